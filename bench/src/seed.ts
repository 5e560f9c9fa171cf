import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { ListingSizes } from './listing-sizes.ts';
import { numberedId } from './numbered-id.ts';
import { createThreadAndAwaitReply } from './requests.ts';
import { copier } from './row-copies.ts';
import { skein, startService } from './service.ts';

/** A store with threads, and the expected sizes of its listings. */
export interface SeededStore {
  readonly folder: string;
  readonly threads: number;
  readonly personalKey: string;
  readonly orgWideKey: string;
  readonly application: { readonly clientId: string; readonly clientSecret: string };
  /** Threads of the personal key's user, spread over the whole store. */
  readonly ownIds: string[];
  readonly publishedIds: string[];
  readonly accountId: string;
  /** How many threads each listing has, as counted while they were written. */
  readonly sizes: { personal: number; published: number; personalAccount: number };
}

const email = 'ada@bench.example';
const dailyQuota = 1_000_000_000;
const otherUsers = 49;
const idsKeptMax = 4096;
const threadsPerTransaction = 20_000;
const everyMs = 200;

/**
 * A plausible organization: half of the threads belong to the measured user, one in ten of them published; the other
 * half belongs to 49 colleagues, nine in ten published. Two in five have an account, one in ten was renamed, one in
 * fifty deleted. All replies are complete, so that no worker is busy with them. The same number always gives the same
 * thread.
 */
function describeThread(number: number, startMs: number, accounts: number) {
  const chance = (what: number) => scatter(number * 8 + what);
  const owner = chance(0) < 0.5 ? 0 : 1 + Math.floor(chance(1) * otherUsers);
  const createdAt = startMs + number * everyMs;
  return {
    owner,
    createdAt,
    published: chance(2) < (owner === 0 ? 0.1 : 0.9),
    account: chance(3) < 0.4 ? accountName(Math.floor(chance(4) * accounts)) : null,
    updatedAt: chance(5) < 0.1 ? createdAt + 60_000 : null,
    deletedAt: chance(6) < 0.02 ? createdAt + 120_000 : null,
  };
}

/** A pseudo-random number from 0 to 1 that depends only on `number` (the finalizer of MurmurHash3). */
function scatter(number: number): number {
  let bits = number ^ (number >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}

/** Larger organizations have more accounts. Each account has few enough threads to walk all of them. */
export function accountsAmong(threads: number): number {
  return Math.min(100, Math.max(4, Math.floor(threads / 5000)));
}

/**
 * Writes the SQLite file directly while no service runs, because creating a million threads over HTTP would take most
 * of an hour. Each thread is a copy of one that the service wrote, with other names and times, so columns that this
 * file does not know are correct, too.
 */
export async function seedStore(folder: string, threads: number): Promise<SeededStore> {
  const { id: organization } = await skein(folder, 'org', 'create', 'Bench', '--quota', String(dailyQuota));
  const { id: user } = await skein(folder, 'member', 'add', organization, email);
  const { key: personalKey } = await skein(folder, 'key', 'create', organization, '--user', email);
  const { key: orgWideKey } = await skein(folder, 'key', 'create', organization, '--org-wide');
  const application = await skein(folder, 'app', 'create', organization, '--name', 'Bench');
  const pattern = await createPattern(folder, personalKey);

  const database = new Sqlite(join(folder, 'data/skein.db'));
  try {
    // The data need not survive a power cut. `skein doctor` checks the references afterwards.
    database.pragma('synchronous = OFF');
    database.pragma('foreign_keys = OFF');
    database.pragma('cache_size = -262144');
    const startMs = Date.now() - 600_000 - threads * everyMs;
    const colleagues = insertColleagues(database, user, startMs);
    const written = await insertThreads(database, pattern, [user, ...colleagues], threads, startMs);
    // The service would index the threads while requests are measured.
    database.exec('DELETE FROM search_due');
    database.pragma('wal_checkpoint(TRUNCATE)');
    return { folder, threads, personalKey, orgWideKey, application, ...written };
  } finally {
    database.close();
  }
}

/** Creates one thread with a finished reply over HTTP and returns its id. */
async function createPattern(folder: string, key: string): Promise<string> {
  const service = await startService(folder);
  const id = await createThreadAndAwaitReply(service, key);
  await service.stop();
  return id;
}

function accountName(number: number): string {
  return `account-${number}`;
}

function insertColleagues(database: Sqlite.Database, user: string, startMs: number): string[] {
  const insertUser = copier(database, 'user', 'id', user);
  const insertMember = copier(database, 'member', 'user_id', user);
  return Array.from({ length: otherUsers }, (_, index) => {
    const id = numberedId('usr', startMs, index);
    insertUser({ id, email: `colleague-${index}@bench.example` });
    insertMember({ user_id: id });
    return id;
  });
}

async function insertThreads(
  database: Sqlite.Database,
  pattern: string,
  users: readonly string[],
  threads: number,
  startMs: number,
): Promise<Pick<SeededStore, 'ownIds' | 'publishedIds' | 'accountId' | 'sizes'>> {
  const insertThread = copier(database, 'thread', 'id', pattern);
  const insertAsked = copier(database, 'message', "role = 'user' AND thread_id", pattern);
  const insertReply = copier(database, 'message', "role = 'assistant' AND thread_id", pattern);
  const accounts = accountsAmong(threads);
  const sizes = new ListingSizes();
  const ownIds: string[] = [];
  const publishedIds: string[] = [];
  const idsEvery = Math.max(1, Math.floor(threads / idsKeptMax));

  const insertSome = database.transaction((from: number, to: number) => {
    for (let number = from; number < to; number += 1) {
      const thread = describeThread(number, startMs, accounts);
      const { owner, createdAt, updatedAt, deletedAt, published, account } = thread;
      const id = numberedId('thr', createdAt, number);
      const title = `What changed for customer ${number} since last quarter?`;
      insertThread({
        id,
        user_id: users[owner]!,
        title,
        account_id: account,
        created_at: createdAt,
        updated_at: updatedAt,
        activity_at: updatedAt ?? createdAt,
        published: Number(published),
        deleted_at: deletedAt,
        deleted: Number(deletedAt !== null),
      });
      const asked = numberedId('msg', createdAt, 2 * number);
      const reply = numberedId('msg', createdAt, 2 * number + 1);
      const message = { thread_id: id, created_at: createdAt };
      insertAsked({ ...message, id: asked, content: prompt(title) });
      insertReply({ ...message, id: reply, content: answer(title), completed_at: createdAt + 900 });
      if (deletedAt !== null) continue;
      sizes.count(users[owner]!, account, published);
      if (owner === 0 && number % idsEvery === 0) ownIds.push(id);
      if (published && number % idsEvery === 0) publishedIds.push(id);
    }
  });
  for (let from = 0; from < threads; from += threadsPerTransaction) {
    insertSome(from, Math.min(threads, from + threadsPerTransaction));
    // Lets the process handle Ctrl-C.
    await nextTurn();
  }
  sizes.write(database);

  const accountId = accountName(0);
  return {
    ownIds,
    publishedIds,
    accountId,
    sizes: {
      // Plus the thread that was copied.
      personal: sizes.visibleTo(users[0]!, null) + 1,
      published: sizes.published(null),
      personalAccount: sizes.visibleTo(users[0]!, accountId),
    },
  };
}

function prompt(title: string): string {
  return `${title} Look at the support tickets, the renewal date and the last three calls, and say what matters.`;
}

function answer(title: string): string {
  return `You asked: ${title}\n\n${'The renewal is due in spring and two tickets about the export are open. '.repeat(4)}`;
}
