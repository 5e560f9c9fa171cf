import pg from 'pg';
import { openPostgresStore } from '../../src/storage/postgres/open.ts';
import { World } from './fixture.ts';
import { openTestDatabase, poolSettings } from './postgres-database.ts';

/** A world on a separate database, which `operator` can change without the store. */
export async function openPostgresWorld() {
  const database = await openTestDatabase();
  const operator = new pg.Client({ connectionString: database.url });
  await operator.connect();
  const world = await World.open((clock) => openPostgresStore(database.url, poolSettings, clock));
  const close = async () => {
    await operator.end();
    await world.close();
    await database.close();
  };
  return { world, operator, close };
}
