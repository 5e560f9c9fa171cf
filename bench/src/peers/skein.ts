import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { root } from '../processes.ts';
import { createThreads, getThreads, listAtDepth, listFirstPage, renameThreads } from '../requests.ts';
import { seedStore } from '../seed.ts';
import { type Contender, json, type SeededContender, startProgram } from './contender.ts';

/** `skein serve` on its embedded store. Its scripted model repeats the question, as the peers' models do nothing either. */
export const skein: Contender = {
  name: 'Skein',
  repliesAsked: 4_800,
  seed: (folder, threads) => seed('all', folder, threads),
};

/** Leaves replies to another process: the peers write none for a create, either. */
export const skeinWithoutReplies: Contender = {
  name: 'Skein, `--role api`',
  repliesAsked: 0,
  seed: (folder, threads) => seed('api', folder, threads),
};

async function seed(role: 'all' | 'api', folder: string, threads: number): Promise<SeededContender> {
  mkdirSync(folder, { recursive: true });
  const { ownIds, personalKey: key } = await seedStore(folder, threads);
  const get = getThreads(ownIds, key);
  const finishedBefore = countReplies(folder);
  return {
    get,
    create: createThreads(key),
    rename: renameThreads(ownIds, key),
    list: async (service, depth) =>
      depth === 0 ? listFirstPage(key) : await listAtDepth(service, key, depth),
    ask: (count, delayMs) => {
      const prompt = delayMs === 0 ? 'What changed?' : `#wait ${delayMs}\n#say Thirty days.`;
      const request = json('POST', '/api/v1/threads', { prompt }, { authorization: `Bearer ${key}` });
      return Array.from({ length: count }, () => request);
    },
    countFinished: async () => countReplies(folder) - finishedBefore,
    start: ({ replySlots }) =>
      startProgram(
        [join(root, 'node_modules/.bin/skein'), 'serve', '--role', role],
        folder,
        {
          SKEIN_MODEL: 'scripted',
          ...(replySlots !== undefined && { SKEIN_REPLY_CONCURRENCY: String(replySlots) }),
        },
        get[0]!,
      ),
  };
}

function countReplies(folder: string): number {
  const database = new Sqlite(join(folder, 'data/skein.db'), { readonly: true });
  const { count } = database
    .prepare<[], { count: number }>(`SELECT count(*) AS count FROM message WHERE status = 'completed'`)
    .get()!;
  database.close();
  return count;
}
