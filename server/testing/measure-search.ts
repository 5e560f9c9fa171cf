import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { splitWords, toTerm } from '../../answers/src/index.ts';
import type { ThreadId } from '../src/domain/id.ts';
import { createSeal } from '../src/security/seal.ts';
import { openSqliteStore } from '../src/storage/sqlite/open.ts';
import { createThreadIndex } from '../src/usecases/threads/index-threads.ts';
import { createThreadSearch, type SearchThreadsInput } from '../src/usecases/threads/search-threads.ts';
import { note, World } from './contract/fixture.ts';
import { openTestDatabase, poolSettings } from './contract/postgres-database.ts';

/**
 * Prints how long the first page of a search takes. Half of the threads belong to the person who searches, and half of the
 * others are published.
 *
 *     node server/testing/measure-search.ts [sqlite|postgres] [THREADS]
 *
 * PostgreSQL needs the server of `node tests/harness/postgres/run.ts COMMAND…`.
 */
const [engine = 'sqlite', count = '100000'] = process.argv.slice(2);
const threads = Number(count);
const rounds = 15;
const created = 200;

const searches: Readonly<Record<string, Partial<SearchThreadsInput> & { search: string }>> = {
  'a word of every thread': { search: 'order ' },
  'a word of one thread in ten': { search: 'refund ' },
  'a word of one thread in 10,000': { search: 'selvedge ' },
  'a word of no thread': { search: 'absent ' },
  'two frequent words that no thread has together': { search: 'even odd ' },
  'ten frequent words': { search: 'order even word0 word1 word2 word3 word4 word5 word6 word7 ' },
  'a word of the older half only': { search: 'ancient ' },
  'the same, own threads': { search: 'ancient ', scope: 'mine' },
  'a word of the oldest thread only': { search: 'oldest ' },
  'a frequent word of other people’s unpublished threads': { search: 'private ' },
  'three words': { search: 'order refund even ' },
  'a prefix of frequent words': { search: 'wor' },
  'own threads': { search: 'refund ', scope: 'mine' },
  'published threads of an account': { search: 'order ', scope: 'published', accountId: 'account 7' },
  'failed threads, of which there are none': { search: 'order ', state: 'error' },
};

/** The same number gives the same text: 40 of 5,000 words, few of them frequent. */
function createPrompt(number: number): string {
  const words = ['order', number % 2 === 0 ? 'even' : 'odd'];
  if (number < threads / 2) words.push('ancient');
  if (number === 0) words.push('oldest');
  if (number % 4 === 2) words.push('private');
  if (number % 10 === 3) words.push('refund');
  if (number % 10_000 === 5) words.push('selvedge');
  for (let place = 0; place < 40; place += 1) {
    const chance = ((Math.imul(number * 41 + place, 0x9e3779b1) >>> 0) / 2 ** 32) ** 3;
    words.push(`word${Math.floor(chance * 5000)}`);
  }
  return `${words.join(' ')}.`;
}

async function openWorld(): Promise<{ world: World; remove: () => Promise<void> | void }> {
  if (engine === 'postgres') {
    const { openPostgresStore } = await import('../src/storage/postgres/open.ts');
    const database = await openTestDatabase();
    const world = await World.open((clock) => openPostgresStore(database.url, poolSettings, clock));
    return { world, remove: () => database.close() };
  }
  const folder = mkdtempSync(join(tmpdir(), 'skein-measure-'));
  const world = await World.open((clock) => openSqliteStore(join(folder, 'x.db'), clock));
  return { world, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

const { world, remove } = await openWorld();
const organizationId = await world.organization();
const people = [await world.member(organizationId), await world.member(organizationId)] as const;
for (let from = 0; from < threads; from += created) {
  world.clock.pass(20);
  const numbers = Array.from({ length: Math.min(created, threads - from) }, (_, place) => from + place);
  const made = await Promise.all(
    numbers.map((number) =>
      world.thread(organizationId, people[number % 4 < 2 ? 0 : 1]!, {
        title: `Thread ${number}`,
        prompt: createPrompt(number),
        accountId: `account ${number % 50}`,
      }),
    ),
  );
  const published: ThreadId[] = made.filter((_, place) => (from + place) % 4 === 3).map(({ id }) => id);
  await Promise.all(published.map((id) => world.store.setThreadPublished(organizationId, id, true, note())));
}

const { store } = world;
const vocabulary = { splitWords, toTerm };
const { search } = createThreadSearch({ store, seal: createSeal(new Uint8Array(32)), vocabulary });
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const startedMs = performance.now();
await createThreadIndex({ store, vocabulary })(async () => {}, new AbortController().signal);
delay.disable();
const indexedMs = performance.now() - startedMs;
console.log(`${engine}, ${threads} threads: indexed in ${(indexedMs / 1000).toFixed(1)} s`);
console.log(
  `event loop while indexing: p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms, longest ${(delay.max / 1e6).toFixed(1)} ms`,
);

const userId = people[0];
const person = { organizationId, userId, authority: { kind: 'operator', userId } } as const;
console.log('| search | results | first ms | median ms | worst ms | CPU ms |');
for (const [name, input] of Object.entries(searches)) {
  const times: number[] = [];
  let found = 0;
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1) {
    const beganMs = performance.now();
    const { rows } = await search(person, { limit: 25, ...input });
    times.push(performance.now() - beganMs);
    found = rows.length;
  }
  // Processor time of all threads of the process. On a busy machine, it is more reliable than the elapsed time.
  const { user, system } = process.cpuUsage(before);
  const [first = 0] = times;
  const sorted = times.toSorted((a, b) => a - b);
  const shown = [first, sorted[Math.floor(rounds / 2)]!, sorted.at(-1)!, (user + system) / 1000 / rounds].map(
    (ms) => ms.toFixed(1),
  );
  console.log(`| ${name} | ${found} | ${shown.join(' | ')} |`);
}
await world.close();
await remove();
