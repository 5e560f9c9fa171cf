import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { type PostgresServer, type Settings, startPostgres } from './server.ts';

const namePrefix = 'skein_test_';

let ownServer: Promise<PostgresServer> | undefined;

/**
 * Returns the URL of a new, empty database on the server that SKEIN_TEST_POSTGRES_URL names. Without that variable,
 * this process starts a server with these settings for its first database, and the server ends with the process. On a
 * server that keeps running, `dropDatabase` removes a database that a test no longer needs.
 */
export async function testDatabase(settings: Settings = {}): Promise<string> {
  const serverUrl = process.env.SKEIN_TEST_POSTGRES_URL || (await startOwnServer(settings)).url;
  const name = `${namePrefix}${process.pid}_${randomBytes(8).toString('hex')}`;
  await query(serverUrl, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'`);
  return withDatabase(serverUrl, name);
}

/** Disconnects all clients first. Rejects a database that `testDatabase` did not create. */
export async function dropDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  if (!/^skein_test_\w+$/.test(name)) throw new Error(`${name} is no database of the tests.`);
  await query(withDatabase(url, 'postgres'), `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
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

export async function query(url: string, text: string, values: unknown[] = []): Promise<any[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}
