import { after, before } from 'node:test';
import pg from 'pg';
import { describeStore } from '../../../testing/contract/describe-store.ts';
import type { TestClock } from '../../../testing/contract/fixture.ts';
import { openTestDatabase, poolSettings } from '../../../testing/contract/postgres-database.ts';
import { openPostgresStore } from './open.ts';

let template: Awaited<ReturnType<typeof openTestDatabase>>;
let admin: pg.Client;

before(async () => {
  template = await openTestDatabase();
  const store = await openPostgresStore(template.url, poolSettings);
  await store.close();
  admin = new pg.Client({ connectionString: databaseUrl('postgres') });
  await admin.connect();
});
after(async () => {
  await admin.end();
  await template.close();
});

function databaseUrl(name: string): string {
  const url = new URL(template.url);
  url.pathname = `/${name}`;
  return url.href;
}

let databases = 0;
describeStore('postgres', () => {
  databases += 1;
  const name = `skein_test_contract_${process.pid}_${databases}`;
  let made: Promise<unknown> | undefined;
  return async (clock: TestClock) => {
    made ??= admin.query(`CREATE DATABASE ${name} TEMPLATE ${new URL(template.url).pathname.slice(1)}`);
    await made;
    return openPostgresStore(databaseUrl(name), poolSettings, clock);
  };
});
