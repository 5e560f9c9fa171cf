import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before } from 'node:test';
import pg from 'pg';
import { describeStore } from '../contract/describe-store.ts';
import type { TestClock } from '../contract/fixture.ts';
import { openPostgresStore } from './open.ts';

const settings = {
  connectionsMax: 10,
  onError: (error: Error) => {
    throw error;
  },
};

/** A server is not ours to import: the tests' own program starts one, or knows one, and keeps a database for us. */
const program = join(import.meta.dirname, '../../../../tests/src/postgres/database-program.ts');
let child: ChildProcess;
let admin: pg.Client;
let template: URL;

before(async () => {
  child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout! })) {
    template = new URL(line.trim());
    break;
  }
  const store = await openPostgresStore(template.href, settings);
  await store.close();
  admin = new pg.Client({ connectionString: databaseUrl('postgres') });
  await admin.connect();
});
after(async () => {
  await admin.end();
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.stdin?.end();
  await gone;
});

function databaseUrl(name: string): string {
  const url = new URL(template);
  url.pathname = `/${name}`;
  return url.href;
}

let databases = 0;
describeStore('postgres', () => {
  databases += 1;
  const name = `contract_${process.pid}_${databases}`;
  let made: Promise<unknown> | undefined;
  return async (clock: TestClock) => {
    made ??= admin.query(`CREATE DATABASE ${name} TEMPLATE ${template.pathname.slice(1)}`);
    await made;
    return openPostgresStore(databaseUrl(name), settings, clock);
  };
});
