import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import type { Request, Target } from '../load.ts';
import { copier } from '../row-copies.ts';
import {
  answerTo,
  type Contender,
  json,
  type RunningService,
  type SeededContender,
  startProgram,
} from './contender.ts';
import { type PeerName, quietEnvironment } from './install.ts';

/** A peer that keeps its threads in a LibSQL file, which SQLite can read and write. */
interface LibsqlPeer {
  readonly name: string;
  readonly peer: PeerName;
  readonly repliesAsked: number;
  command(folder: string): string[];
  readonly probe: string;
  get(id: string): string;
  list(offset: number): string;
  create(title: string): Request;
  rename(id: string, title: string): Request;
  ask(id: string, prompt: string, mustSurvive: boolean): Request;
  readonly tables: {
    readonly thread: string;
    readonly message: string;
    readonly threadColumn: string;
    readonly messageId: string;
    readonly times: readonly string[];
  };
}

const user = 'ada';
const idsKeptMax = 4096;

const mastra: LibsqlPeer = {
  name: 'Mastra + LibSQL',
  peer: 'mastra',
  repliesAsked: 480,
  command: (folder) => [process.execPath, join(folder, '.mastra/output/index.mjs')],
  probe: '/api/agents',
  get: (id) => `/api/memory/threads/${id}/messages?agentId=echo`,
  list: (offset) =>
    `/api/memory/threads?agentId=echo&resourceId=${user}&perPage=25&page=${Math.floor(offset / 25)}`,
  create: (title) => json('POST', '/api/memory/threads?agentId=echo', { resourceId: user, title }),
  rename: (id, title) => json('PATCH', `/api/memory/threads/${id}?agentId=echo`, { title }),
  ask: (threadId, message, mustSurvive) =>
    json('POST', `/api/agents/${mustSurvive ? 'durable' : 'echo'}/send-message`, {
      message,
      resourceId: user,
      threadId,
    }),
  tables: {
    thread: 'mastra_threads',
    message: 'mastra_messages',
    threadColumn: 'thread_id',
    messageId: 'id',
    times: ['createdAt', 'updatedAt'],
  },
};

const voltagent: LibsqlPeer = {
  name: 'VoltAgent + LibSQL',
  peer: 'voltagent',
  repliesAsked: 960,
  command: (folder) => [process.execPath, join(folder, 'voltagent.mjs')],
  probe: '/agents',
  get: (id) => `/api/memory/conversations/${id}/messages?agentId=echo&userId=${user}`,
  list: (offset) => `/api/memory/conversations?agentId=echo&userId=${user}&limit=25&offset=${offset}`,
  create: (title) =>
    json('POST', '/api/memory/conversations', { agentId: 'echo', userId: user, resourceId: 'echo', title }),
  rename: (id, title) => json('PATCH', `/api/memory/conversations/${id}?agentId=echo`, { title }),
  ask: (conversationId, input) =>
    json('POST', '/agents/echo/text', { input, options: { userId: user, conversationId } }),
  tables: {
    thread: 'voltagent_memory_conversations',
    message: 'voltagent_memory_messages',
    threadColumn: 'conversation_id',
    messageId: 'message_id',
    times: ['created_at', 'updated_at'],
  },
};

export const libsqlPeers = [voltagent, mastra];

export function toContender(peer: LibsqlPeer, installed: string): Contender {
  return {
    name: peer.name,
    repliesAsked: peer.repliesAsked,
    seed: (folder, threads) => seed(peer, installed, folder, threads),
  };
}

/** Lets the peer write one thread with a reply, and copies its rows. */
async function seed(
  peer: LibsqlPeer,
  installed: string,
  folder: string,
  threads: number,
): Promise<SeededContender> {
  mkdirSync(folder, { recursive: true });
  const start = (mustSurvive: boolean): Promise<RunningService> =>
    startProgram(
      peer.command(installed),
      folder,
      { ...quietEnvironment(), DATA: folder, ...(mustSurvive && { RECOVER: '1' }) },
      { method: 'GET', path: peer.probe, headers: {} },
    );
  const first = await start(false);
  const pattern = await writePattern(peer, first, folder);
  await first.stop();
  const ids = copyThreads(peer, folder, pattern, threads);
  const finishedBefore = countReplies(peer, folder);
  const path = (to: string): Request => ({ method: 'GET', path: to, headers: {} });
  return {
    start: ({ replySlots }) => start(replySlots !== undefined),
    get: ids.map((id) => path(peer.get(id))),
    list: async (_service, depth) => [path(peer.list(depth))],
    create: Array.from({ length: 256 }, (_, number) => peer.create(`Renewal of customer ${number}`)),
    rename: ids.map((id, number) => peer.rename(id, `Renewal of customer ${number}`)),
    ask: (count, delayMs) =>
      Array.from({ length: count }, () =>
        peer.ask(randomUUID(), delayMs === 0 ? 'What changed?' : `[[delay=${delayMs}]]`, delayMs > 0),
      ),
    countFinished: async () => countReplies(peer, folder) - finishedBefore,
  };
}

async function writePattern(peer: LibsqlPeer, service: Target, folder: string): Promise<string> {
  const id = randomUUID();
  await answerTo(service, peer.ask(id, 'What changed for customer 1 since last quarter?', false));
  for (let waitedMs = 0; waitedMs < 10_000; waitedMs += 50) {
    if (countReplies(peer, folder) > 0) return id;
    await pause(50);
  }
  throw new Error(`${peer.name} wrote no reply.`);
}

function copyThreads({ tables }: LibsqlPeer, folder: string, pattern: string, threads: number): string[] {
  const { thread, message, threadColumn, messageId, times } = tables;
  const database = open(folder, false);
  const insertThread = copier(database, thread, 'id', pattern);
  const insertAsked = copier(database, message, `role <> 'assistant' AND ${threadColumn}`, pattern);
  const insertReply = copier(database, message, `role = 'assistant' AND ${threadColumn}`, pattern);
  const startMs = Date.now() - 600_000 - threads * 200;
  const idsEvery = Math.max(1, Math.floor(threads / idsKeptMax));
  const ids: string[] = [];
  database.transaction(() => {
    for (let number = 0; number < threads; number += 1) {
      const id = randomUUID();
      const at = new Date(startMs + number * 200).toISOString();
      const timesOfRow = Object.fromEntries(times.map((column) => [column, at]));
      insertThread({ id, title: `What changed for customer ${number} since last quarter?`, ...timesOfRow });
      insertAsked({ [threadColumn]: id, [messageId]: randomUUID(), [times[0]!]: at });
      insertReply({ [threadColumn]: id, [messageId]: randomUUID(), [times[0]!]: at });
      if (number % idsEvery === 0) ids.push(id);
    }
  })();
  database.close();
  return ids;
}

function countReplies({ tables }: LibsqlPeer, folder: string): number {
  const database = open(folder, true);
  const { count } = database
    .prepare<[], { count: number }>(
      `SELECT count(*) AS count FROM ${tables.message} WHERE role = 'assistant'`,
    )
    .get()!;
  database.close();
  return count;
}

function open(folder: string, readonly: boolean): Sqlite.Database {
  return new Sqlite(join(folder, 'peer.db'), { readonly, fileMustExist: true });
}
