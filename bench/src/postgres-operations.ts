import { type LoadResult, load, type Request, type Target } from './load.ts';
import { measurePointReads, type PointReads, preparePointReads } from './pgbench.ts';
import type { Plan } from './plan.ts';
import { isOnPath, type PostgresServer } from './postgres-server.ts';
import { createOrganization, type Organization, seedDatabase, startNode } from './postgres-store.ts';
import { createThreads, getThreads, listFirstPage, renameThreads } from './requests.ts';
import { median } from './rounds.ts';
import type { SeededStore } from './seed.ts';
import type { Service } from './service.ts';
import { micros, ms, printTable, rate, ratio, say } from './table.ts';
import { verifyStore } from './verify-store.ts';

/** The default pool size of a node. */
const poolConnections = 10;
const organizationsMany = 10;
const threadsOfEach = 50;

interface Operation {
  readonly name: string;
  readonly requests: readonly Request[];
}

interface Round {
  readonly limit: PointReads | undefined;
  readonly one: LoadResult;
  readonly two: LoadResult;
}

/**
 * Measures each operation on one node and on two, and PostgreSQL's own point reads, in the same rounds on the same
 * server.
 */
export async function measurePostgresOperations(server: PostgresServer, plan: Plan): Promise<void> {
  const url = await server.database();
  const store = await seedDatabase(url, plan.threads);
  const others = await createOrganizations(url);
  const nodes = await Promise.all([1, 2].map(() => startNode(url, 'scripted', '--role', 'api')));
  const [one, second] = nodes as [Service, Service];
  const databaseCpuSeconds = server.cpuSeconds;
  await verifyStore(one, store);
  const targets = {
    one: { ...one, databaseCpuSeconds },
    two: { ...one, others: [second], databaseCpuSeconds },
  };
  const limitUrl = (await isOnPath('pgbench')) ? await server.database() : undefined;
  if (limitUrl !== undefined) await preparePointReads(limitUrl);
  const measureLimit = (seconds: number) =>
    limitUrl === undefined ? undefined : measurePointReads(server, limitUrl, poolConnections, seconds);

  const rows: string[][] = [];
  const limits: PointReads[] = [];
  for (const { name, requests } of await operations(one, store, others)) {
    const rounds = await measureRounds(targets, requests, measureLimit, plan);
    limits.push(...rounds.flatMap(({ limit }) => limit ?? []));
    rows.push([name, ...describe(rounds)]);
  }
  for (const node of nodes) await node.stop();
  describeLimit(limits);
  printTable(
    `PostgreSQL, ${plan.threads.toLocaleString('en')} threads, ${plan.settings.connections} connections`,
    [
      'operation',
      'one node, /s',
      'of pgbench',
      'p50 ms',
      'p99 ms',
      'node CPU µs',
      'PostgreSQL CPU µs',
      'two nodes, /s',
      'two/one',
    ],
    rows,
  );
}

async function measureRounds(
  { one, two }: { one: Target; two: Target },
  requests: readonly Request[],
  measureLimit: (seconds: number) => Promise<PointReads> | undefined,
  { settings }: Plan,
): Promise<Round[]> {
  for (const target of [one, two])
    await load(target, requests, { ...settings, seconds: settings.warmUpSeconds });
  const rounds: Round[] = [];
  for (let round = 0; round < settings.rounds; round += 1) {
    rounds.push({
      limit: await measureLimit(settings.seconds),
      one: await load(one, requests, settings),
      two: await load(two, requests, settings),
    });
  }
  return rounds;
}

function describe(rounds: readonly Round[]): string[] {
  const of = (figure: (round: Round) => number) => median(rounds.map(figure));
  return [
    rate(of(({ one }) => one.requestsPerSecond)),
    ratio(of(({ one, limit }) => one.requestsPerSecond / (limit?.perSecond ?? Number.NaN))),
    ms(of(({ one }) => one.p50Ms)),
    ms(of(({ one }) => one.p99Ms)),
    micros(of(({ one }) => one.cpuMicros)),
    micros(of(({ one }) => one.databaseCpuMicros)),
    rate(of(({ two }) => two.requestsPerSecond)),
    ratio(of(({ one, two }) => two.requestsPerSecond / one.requestsPerSecond)),
  ];
}

function describeLimit(limits: readonly PointReads[]): void {
  if (limits.length === 0) {
    say("There is no pgbench on the PATH: PostgreSQL's own rate was not measured.");
    return;
  }
  say(
    `pgbench -S -M prepared -c ${poolConnections}, in the same rounds: ` +
      `${rate(median(limits.map(({ perSecond }) => perSecond)))} reads/s, ` +
      `${micros(median(limits.map(({ databaseCpuMicros }) => databaseCpuMicros)))} µs of PostgreSQL's CPU for each.`,
  );
}

async function createOrganizations(url: string): Promise<Organization[]> {
  const made: Organization[] = [];
  for (let number = 1; number <= organizationsMany; number += 1)
    made.push(await createOrganization(url, `Bench ${number}`));
  return made;
}

/** Reads come first, so that they are measured on the seeded data. */
async function operations(
  node: Service,
  { ownIds, personalKey }: SeededStore,
  others: readonly Organization[],
): Promise<Operation[]> {
  const gets = await Promise.all(others.map(async ({ key }) => getThreads(await createSome(node, key), key)));
  return [
    { name: 'get, one organization', requests: getThreads(ownIds, personalKey) },
    { name: 'get, ten organizations', requests: gets.flat() },
    { name: 'list, first page of 25', requests: listFirstPage(personalKey) },
    { name: 'create, one organization', requests: createThreads(personalKey) },
    { name: 'create, ten organizations', requests: others.flatMap(({ key }) => createThreads(key)) },
    { name: 'rename, one organization', requests: renameThreads(ownIds, personalKey) },
  ];
}

async function createSome(node: Service, key: string): Promise<string[]> {
  const ids: string[] = [];
  for (const { method, path, headers, body } of createThreads(key).slice(0, threadsOfEach)) {
    const response = await fetch(node.baseUrl + path, { method, headers, body: body ?? null });
    ids.push(((await response.json()) as { thread: { id: string } }).thread.id);
  }
  return ids;
}
