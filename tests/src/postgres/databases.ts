import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { type PostgresServer, type Settings, startPostgres } from './server.ts';

const namePrefix = 'skein_test_';

let ownServer: Promise<PostgresServer> | undefined;

/**
 * The URL of a fresh, empty database, on the server that SKEIN_TEST_POSTGRES_URL names. Without one, this process starts
 * a server at its first database, with these settings, and the server is gone with the process. On a server that stays,
 * `dropDatabase` removes what a test no longer needs.
 */
export async function testDatabase(settings: Settings = {}): Promise<string> {
  const serverUrl = process.env.SKEIN_TEST_POSTGRES_URL || (await startOwnServer(settings)).url;
  const name = `${namePrefix}${process.pid}_${randomBytes(8).toString('hex')}`;
  await command(serverUrl, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'`);
  return withDatabase(serverUrl, name);
}

/** Sends away who is connected. Refuses a database that `testDatabase` did not make. */
export async function dropDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  if (!/^skein_test_\w+$/.test(name)) throw new Error(`${name} is no database of the tests.`);
  await command(withDatabase(url, 'postgres'), `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

function startOwnServer(settings: Settings): Promise<PostgresServer> {
  ownServer ??= startPostgres({ settings });
  return ownServer;
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function command(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
