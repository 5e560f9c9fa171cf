import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { load, type Target } from './load.ts';
import { numberedId } from './numbered-id.ts';
import type { Plan } from './plan.ts';
import { createThreads } from './requests.ts';
import { median } from './rounds.ts';
import { copier } from './row-copies.ts';
import type { SeededStore } from './seed.ts';
import { printTable, rate, times } from './table.ts';

/** Appends and syncs 4 KiB repeatedly next to the store: the limit of the disk if each create waits for its own sync. */
export function measureSyncs(folder: string, seconds: number): number {
  const file = join(folder, 'sync-probe');
  const descriptor = openSync(file, 'w');
  const page = Buffer.alloc(4096, 1);
  try {
    return countPerSecond(seconds, () => {
      writeSync(descriptor, page);
      fdatasyncSync(descriptor);
    });
  } finally {
    closeSync(descriptor);
    rmSync(file);
  }
}

/** Writes the rows of each create in its own synced transaction, in a store with the same schema and without a server. */
function measureSingleCommits(store: SeededStore, seconds: number): number {
  const database = new Sqlite(join(store.folder, 'data/skein.db'));
  try {
    database.pragma('synchronous = FULL');
    const pattern = store.ownIds[0]!;
    const insertThread = copier(database, 'thread', 'id', pattern);
    const insertAsked = copier(database, 'message', "role = 'user' AND thread_id", pattern);
    const insertReply = copier(database, 'message', "role = 'assistant' AND thread_id", pattern);
    let number = 0;
    const createOne = database.transaction((now: number) => {
      const thread_id = numberedId('thr', now, number);
      insertThread({ id: thread_id });
      insertAsked({ thread_id, id: numberedId('msg', now, 2 * number) });
      insertReply({ thread_id, id: numberedId('msg', now, 2 * number + 1) });
    });
    return countPerSecond(seconds, () => {
      number += 1;
      createOne(Date.now());
    });
  } finally {
    database.close();
  }
}

/** Compares creates that arrive together with creates that each wait for their own sync, in the same rounds. */
export async function measureCreates(
  service: Target,
  store: SeededStore,
  spare: SeededStore,
  plan: Plan,
): Promise<void> {
  const requests = createThreads(store.personalKey);
  const { rounds, connections, seconds, warmUpSeconds } = plan.settings;
  await load(service, requests, { connections, seconds: warmUpSeconds });
  const rows: { syncs: number; commits: number; alone: number; together: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const syncs = measureSyncs(store.folder, plan.syncSeconds / 2);
    const commits = measureSingleCommits(spare, plan.syncSeconds / 2);
    const alone = await load(service, requests, { connections: 1, seconds });
    const together = await load(service, requests, { connections, seconds });
    rows.push({ syncs, commits, alone: alone.requestsPerSecond, together: together.requestsPerSecond });
  }
  const of = (name: keyof (typeof rows)[0]) => rate(median(rows.map((row) => row[name])));
  const against = (name: keyof (typeof rows)[0]) =>
    times(median(rows.map((row) => row.together / row[name])));
  printTable(
    'Creates and syncs',
    ['what', 'per second', `creates at ${connections} against it`],
    [
      [`creates over ${connections} connections, replies written meanwhile`, of('together'), times(1)],
      ['creates over one connection: each waits for its own sync', of('alone'), against('alone')],
      ['the same rows, one synced SQLite commit each, no server', of('commits'), against('commits')],
      ['fdatasync of 4 KiB appended: the disk alone', of('syncs'), against('syncs')],
    ],
  );
}

function countPerSecond(seconds: number, once: () => void): number {
  const began = performance.now();
  let count = 0;
  while (performance.now() - began < seconds * 1000) {
    once();
    count += 1;
  }
  return count / ((performance.now() - began) / 1000);
}
