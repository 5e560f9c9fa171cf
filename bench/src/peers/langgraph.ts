import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Request } from '../load.ts';
import { answerTo, type Contender, json, type SeededContender, startProgram } from './contender.ts';
import { quietEnvironment } from './install.ts';

const idsKeptMax = 4096;
const flushedWithinMs = 10_000;

/** The LangGraph JS server: it keeps its threads in memory, and writes them to a file three seconds after a change. */
export function langgraph(installed: string): Contender {
  return {
    name: 'LangGraph JS server',
    repliesAsked: 320,
    seed: (folder, threads) => seed(installed, folder, threads),
  };
}

async function seed(installed: string, folder: string, threads: number): Promise<SeededContender> {
  mkdirSync(folder, { recursive: true });
  const start: SeededContender['start'] = ({ replySlots }) =>
    startProgram(
      [process.execPath, join(installed, 'langgraph.mjs')],
      folder,
      {
        ...quietEnvironment(),
        DATA: folder,
        ...(replySlots !== undefined && { WORKERS: String(replySlots) }),
      },
      { method: 'GET', path: '/ok', headers: {} },
    );
  const first = await start({});
  await answerTo(first, ask(0));
  const file = join(folder, '.langgraph_api/.langgraphjs_ops.json');
  const ids = await copyThreads(file, threads);
  await first.stop('SIGKILL');
  writeFileSync(file, ids.file);
  return {
    start,
    get: ids.kept.map((id) => ({ method: 'GET', path: `/threads/${id}`, headers: {} })),
    list: async (_service, offset) => [json('POST', '/threads/search', { limit: 25, offset })],
    create: Array.from({ length: 256 }, (_, number) =>
      json('POST', '/threads', { metadata: { title: `Renewal of customer ${number}` } }),
    ),
    rename: ids.kept.map((id, number) =>
      json('PATCH', `/threads/${id}`, { metadata: { title: `Renewal of customer ${number}` } }),
    ),
    ask: (count, delayMs) => Array.from({ length: count }, () => ask(delayMs)),
    async countFinished(service) {
      // Only threads that were asked for a reply name a graph.
      const search = { status: 'idle', metadata: { graph_id: 'echo' }, limit: 1000 };
      const found = await answerTo(service, json('POST', '/threads/search', search));
      return found.filter(({ values }: any) => values?.messages?.length > 1).length;
    },
  };
}

function ask(delayMs: number): Request {
  return json('POST', `/threads/${randomUUID()}/runs`, {
    assistant_id: 'echo',
    if_not_exists: 'create',
    input: {
      messages: [{ role: 'user', content: delayMs === 0 ? 'What changed?' : `[[delay=${delayMs}]]` }],
    },
  });
}

/** Waits until the server has written its one thread with a reply, and returns a file with copies of it instead. */
async function copyThreads(file: string, threads: number): Promise<{ file: string; kept: string[] }> {
  for (let waitedMs = 0; waitedMs < flushedWithinMs; waitedMs += 100) {
    await pause(100);
    let written: any;
    try {
      written = JSON.parse(readFileSync(file, 'utf8'));
    } catch {
      continue;
    }
    const [pattern] = Object.values<any>(written.json.threads);
    if (!(pattern?.values?.messages?.length > 1)) continue;
    const kept: string[] = [];
    const idsEvery = Math.max(1, Math.floor(threads / idsKeptMax));
    const startMs = Date.now() - 600_000 - threads * 200;
    written.json.runs = {};
    written.json.retry_counter = {};
    written.json.threads = {};
    for (let number = 0; number < threads; number += 1) {
      const id = randomUUID();
      const at = new Date(startMs + number * 200).toISOString();
      const metadata = { title: `What changed for customer ${number} since last quarter?` };
      written.json.threads[id] = { ...pattern, thread_id: id, created_at: at, updated_at: at, metadata };
      if (number % idsEvery === 0) kept.push(id);
    }
    written.meta = buildMeta(written);
    return { file: JSON.stringify(written), kept };
  }
  throw new Error('The LangGraph server wrote no thread to its file.');
}

/** Superjson's notes about types: those of the assistants as they were written, and the dates of the copied threads. */
function buildMeta({ json: data, meta }: any): unknown {
  const ofAssistants = (notes: object = {}) =>
    Object.fromEntries(Object.entries(notes).filter(([path]) => path.startsWith('assistant')));
  const dates = Object.keys(data.threads).flatMap((id) => [
    [`threads.${id}.created_at`, ['Date']],
    [`threads.${id}.updated_at`, ['Date']],
  ]);
  return {
    values: { ...ofAssistants(meta.values), ...Object.fromEntries(dates) },
    referentialEqualities: ofAssistants(meta.referentialEqualities),
    v: meta.v,
  };
}
