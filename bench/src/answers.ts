import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { checkQuestions, readQuestions } from './answer-questions.ts';
import { type JudgedReply, printReplies, type Reply } from './answer-table.ts';
import { cpuSeconds } from './load.ts';
import { writePackageDocuments } from './package-documents.ts';
import { removeFolder, temporaryFolder } from './processes.ts';
import { skein, startService } from './service.ts';
import { say } from './table.ts';

/** Measures how well questions about published documents are answered over HTTP. */
export async function evaluateAnswers(): Promise<void> {
  const folder = temporaryFolder();
  const org = await createAnswerOrganization(folder);
  const email = 'ada@bench.example';
  await skein(folder, 'member', 'add', org, email);
  const { key } = await skein(folder, 'key', 'create', org, '--user', email);
  const service = await startService(folder, { SKEIN_MODEL: 'extractive' });
  const questions = readQuestions();
  const judged: JudgedReply[] = [];
  const before = cpuSeconds(service.pid);
  for (const question of questions) {
    judged.push({ question, reply: await ask(service.baseUrl, key, question.question) });
  }
  const cpuMs = (cpuSeconds(service.pid) - before) * 1000;
  await service.stop();
  removeFolder(folder);
  say(`${questions.length} questions about published packages, answered by the model that needs no network.`);
  printReplies(judged, cpuMs / judged.length);
}

/** Creates an organization with every document in the store in `folder`, and returns its id. */
export async function createAnswerOrganization(folder: string): Promise<string> {
  const documents = join(folder, 'documents');
  mkdirSync(documents);
  const files = await writePackageDocuments(documents);
  const { id } = await skein(folder, 'org', 'create', 'Evaluation', '--quota', '1000000');
  await skein(folder, 'doc', 'add', id, ...[...files.values()].map((file) => join('documents', file)));
  checkQuestions(readQuestions(), storedTexts(folder, files));
  return id;
}

function storedTexts(folder: string, files: ReadonlyMap<string, string>): Map<string, string> {
  const database = new Sqlite(join(folder, 'data/skein.db'), { readonly: true });
  const passages = database.prepare(
    'SELECT heading, text FROM passage JOIN document ON document.id = document_id WHERE name = ?',
  );
  const texts = new Map<string, string>();
  for (const [document, file] of files) {
    const rows = passages.all(join('documents', file)) as { heading: string; text: string }[];
    texts.set(document, rows.map(({ heading, text }) => `${heading} ${text}`).join(' '));
  }
  database.close();
  return texts;
}

/** Asks the question in a new thread and waits for the reply. */
async function ask(baseUrl: string, key: string, question: string): Promise<Reply> {
  const threads = new URL('/api/v1/threads', baseUrl);
  const authorization = `Bearer ${key}`;
  const { thread } = await json(threads, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: question }),
  });
  const { messages } = await json(new URL(`${threads.pathname}/${thread.id}`, baseUrl), {
    headers: { authorization, prefer: 'wait=20' },
  });
  const { status, content, sources } = messages.at(-1);
  if (status !== 'completed') throw new Error(`The reply to “${question}” is ${status} after 20 s.`);
  return { content, sources: (sources ?? []).length };
}

async function json(url: URL, request: RequestInit): Promise<any> {
  const answer = await fetch(url, request);
  if (!answer.ok) throw new Error(`${url.pathname} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}
