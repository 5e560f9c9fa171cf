import { compareSides, type Side } from './growth.ts';
import type { Plan } from './plan.ts';
import { type PostgresServer, sql } from './postgres-server.ts';
import { seedDatabase, startNode, startNodeThatKeepsPlans } from './postgres-store.ts';
import { createThreads, getThreads, listFirstPage } from './requests.ts';
import { compare } from './rounds.ts';
import type { Service } from './service.ts';
import { micros, printTable, rate, ratio, say } from './table.ts';
import { verifyStore } from './verify-store.ts';

/** Sends the same requests to a small and a large database on one server, each with its own node. */
export async function measurePostgresGrowth(server: PostgresServer, plan: Plan): Promise<void> {
  const small = await startSide(server, await server.database(), plan.smallThreads);
  const largeUrl = await server.database();
  const large = await startSide(server, largeUrl, plan.largeDatabaseThreads);
  await showSizes(largeUrl, plan.largeDatabaseThreads);
  await compareSides('Growth on PostgreSQL', small, large, plan);
  await comparePlans(largeUrl, large, plan);
  for (const { service } of [small, large]) await service.stop();
}

async function startSide(
  server: PostgresServer,
  url: string,
  threads: number,
): Promise<Side & { service: Service }> {
  const began = performance.now();
  const store = await seedDatabase(url, threads);
  const seconds = (performance.now() - began) / 1000;
  const node = await startNode(url, 'scripted', '--role', 'api');
  await verifyStore(node, store);
  say(
    `Seeded ${threads.toLocaleString('en')} threads in ${seconds.toFixed(0)} s; the listings show what was written ` +
      `(${store.sizes.personal.toLocaleString('en')} visible to the personal key).`,
  );
  return { service: { ...node, databaseCpuSeconds: server.cpuSeconds }, store };
}

/**
 * PostgreSQL plans a prepared statement again at each call if it estimates the generic plan to be more expensive.
 * Compares a normal node with one whose connections keep their plans.
 */
async function comparePlans(url: string, { service, store }: Side, plan: Plan): Promise<void> {
  const keeping = await startNodeThatKeepsPlans(url);
  const { databaseCpuSeconds } = service;
  const targets = [{ ...keeping, ...(databaseCpuSeconds && { databaseCpuSeconds }) }, service];
  const questions = [
    { name: 'get', requests: getThreads(store.ownIds, store.personalKey) },
    { name: 'list, first page of 25', requests: listFirstPage(store.personalKey) },
    { name: 'create', requests: createThreads(store.personalKey) },
  ];
  const rows: string[][] = [];
  for (const { name, requests } of questions) {
    const contenders = targets.map((target) => ({ target, requests }));
    const { results, ratios, databaseCpuRatios } = await compare(contenders, plan.settings);
    rows.push([
      name,
      rate(results[1]!.requestsPerSecond),
      rate(results[0]!.requestsPerSecond),
      ratio(ratios[0]!),
      micros(results[1]!.databaseCpuMicros),
      micros(results[0]!.databaseCpuMicros),
      ratio(databaseCpuRatios[0]!),
    ]);
  }
  await keeping.stop();
  printTable(
    `plan_cache_mode, ${store.threads.toLocaleString('en')} threads: auto, and force_generic_plan`,
    ['operation', 'auto, /s', 'kept, /s', 'kept/auto', 'PostgreSQL CPU µs', 'kept, CPU µs', 'kept/auto'],
    rows,
  );
}

/** Prints the disk space per thread, including its prompt and its reply. */
async function showSizes(url: string, threads: number): Promise<void> {
  const tables = await sql(
    url,
    `SELECT relname, reltuples::bigint, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class
     WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND reltuples >= ${threads};`,
  );
  const sum = (column: number) => tables.reduce((total, row) => total + Number(row[column]), 0);
  const rows = [...tables, ['together', sum(1), sum(2), sum(3)].map(String)].map(
    ([name, count, table, indexes]) => [
      name!,
      rate(Number(count) / threads),
      rate(Number(table) / threads),
      rate(Number(indexes) / threads),
      rate((Number(table) + Number(indexes)) / threads),
    ],
  );
  printTable(
    `Bytes for each of ${threads.toLocaleString('en')} threads, prompt and reply included`,
    ['table', 'rows', 'rows and TOAST', 'indexes', 'together'],
    rows,
  );
}
