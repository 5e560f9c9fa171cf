import { compareSides, type Side } from './growth.ts';
import type { Plan } from './plan.ts';
import { type PostgresServer, sql } from './postgres-server.ts';
import { seedDatabase, startNodeWithoutCache } from './postgres-store.ts';
import type { Service } from './service.ts';
import { printTable, rate, say } from './table.ts';
import { verifyStore } from './verify-store.ts';

/** Sends the same requests to a small and a large database on one server, each with its own node. */
export async function measurePostgresGrowth(server: PostgresServer, plan: Plan): Promise<void> {
  const small = await startSide(server, await server.database(), plan.smallThreads);
  const largeUrl = await server.database();
  const large = await startSide(server, largeUrl, plan.largeDatabaseThreads);
  await showSizes(largeUrl, plan.largeDatabaseThreads);
  await compareSides('Growth on PostgreSQL', small, large, plan);
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
  const node = await startNodeWithoutCache(url);
  await verifyStore(node, store);
  say(
    `Seeded ${threads.toLocaleString('en')} threads in ${seconds.toFixed(0)} s; the listings show what was written ` +
      `(${store.sizes.personal.toLocaleString('en')} visible to the personal key).`,
  );
  return { service: { ...node, databaseCpuSeconds: server.cpuSeconds }, store };
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
