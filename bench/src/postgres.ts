import type { Plan } from './plan.ts';
import { measurePostgresGrowth } from './postgres-growth.ts';
import { measurePostgresOperations } from './postgres-operations.ts';
import { measurePostgresReplies } from './postgres-replies.ts';
import { countRoundTrips } from './postgres-round-trips.ts';
import { isOnPath, startPostgres } from './postgres-server.ts';
import { say } from './table.ts';

/** Measures the PostgreSQL store: against the machine's limit, by number of nodes, by round trips and by size. */
export async function measurePostgres(plan: Plan): Promise<void> {
  if (process.platform !== 'linux' || !(await isOnPath('psql'))) {
    say('PostgreSQL is not measured: it takes Linux, and psql on the PATH.');
    return;
  }
  const server = await startPostgres();
  await measurePostgresOperations(server, plan);
  await countRoundTrips(server);
  await measurePostgresReplies(server);
  await measurePostgresGrowth(server, plan);
  await server.stop();
}
