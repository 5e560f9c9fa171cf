import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { eventually } from '../service/eventually.ts';
import { dropDatabase, query, testDatabase } from './databases.ts';
import { type PostgresServer, startPostgres } from './server.ts';
import { startStandby } from './standby.ts';

function startProgram(name: string, words: string[], environment: NodeJS.ProcessEnv = {}): ChildProcess {
  return spawn(process.execPath, [join(import.meta.dirname, name), ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  });
}

async function firstLine(program: ChildProcess): Promise<string> {
  const [line] = await once(createInterface(program.stdout!), 'line');
  return line;
}

// One for the whole file: a new one costs a second.
let server: PostgresServer;
before(async () => {
  server = await startPostgres();
  process.env.SKEIN_TEST_POSTGRES_URL = server.url;
});
after(() => server.remove());

describe('a PostgreSQL server for tests', () => {
  it('uses UTF-8, and requires its password', async () => {
    const [row] = await query(server.url, "SELECT current_setting('server_encoding') AS encoding");
    assert.equal(row.encoding, 'UTF8');
    await assert.rejects(query(server.url.replace(server.password, 'guess'), 'SELECT 1'), { code: '28P01' });
  });

  it('keeps its port and all committed data when it is stopped, killed and restarted', async () => {
    const { url } = server;
    await query(url, 'CREATE TABLE kept (value int)');
    await query(url, 'INSERT INTO kept VALUES (1)');
    await server.restart();
    await query(url, 'INSERT INTO kept VALUES (2)');
    await server.kill();
    // Reset if a backend that has not noticed yet still holds the port.
    await assert.rejects(query(url, 'SELECT 1'), { code: /^ECONN(REFUSED|RESET)$/ });
    await server.restart();
    assert.deepEqual(await query(url, 'SELECT value FROM kept ORDER BY value'), [{ value: 1 }, { value: 2 }]);
    assert.equal(server.url, url);
  });
});

describe('a database for a test', () => {
  it('is empty, separate, and gone when it is dropped', async () => {
    const [one, other] = await Promise.all([testDatabase(), testDatabase()]);
    await query(one, 'CREATE TABLE here (value int)');
    const tables = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace";
    assert.deepEqual(await query(one, tables), [{ relname: 'here' }]);
    assert.deepEqual(await query(other, tables), []);
    await Promise.all([dropDatabase(one), dropDatabase(other)]);
    await assert.rejects(query(one, 'SELECT 1'), { code: '3D000' });
  });

  it('is never dropped unless the tests created it', async () => {
    await assert.rejects(dropDatabase('postgres://127.0.0.1/production'), /no database of the tests/);
  });

  it('exists until the standard input of the program that created it closes', async () => {
    const program = startProgram('database-program.ts', []);
    const url = await firstLine(program);
    assert.deepEqual(await query(url, 'SELECT 1 AS one'), [{ one: 1 }]);
    const exited = once(program, 'exit');
    program.stdin!.end();
    assert.deepEqual(await exited, [0, null]);
    await assert.rejects(query(url, 'SELECT 1'), { code: '3D000' });
  });

  it('is started by a program with the given settings', async () => {
    const program = startProgram('database-program.ts', ['fsync=on'], { SKEIN_TEST_POSTGRES_URL: '' });
    const url = await firstLine(program);
    assert.deepEqual(await query(server.url, 'SHOW fsync'), [{ fsync: 'off' }]);
    assert.deepEqual(await query(url, 'SHOW fsync'), [{ fsync: 'on' }]);
    const exited = once(program, 'exit');
    program.stdin!.end();
    assert.deepEqual(await exited, [0, null]);
  });
});

describe('a command with a server', () => {
  // Prints the URL of the server, then exits with the code that arrives on its standard input.
  const script = `
    console.log(process.env.SKEIN_TEST_POSTGRES_URL);
    process.stdin.once('data', (data) => process.exit(Number(data)));`;

  function startCommand(serverUrl = ''): ChildProcess {
    return startProgram('run.ts', [process.execPath, '-e', script], { SKEIN_TEST_POSTGRES_URL: serverUrl });
  }

  async function findFolder(url: string): Promise<string> {
    const [row] = await query(url, 'SHOW data_directory');
    assert.ok(existsSync(row.data_directory));
    return dirname(row.data_directory);
  }

  it('uses the given server, and exits with the exit code of the command', async () => {
    const program = startCommand(server.url);
    assert.equal(await firstLine(program), server.url);
    const exited = once(program, 'exit');
    program.stdin!.write('7');
    assert.deepEqual(await exited, [7, null]);
    assert.deepEqual(await query(server.url, 'SELECT 1 AS one'), [{ one: 1 }]);
  });

  it('starts its own server, and leaves none behind, whether it is terminated or killed', async () => {
    const [asked, killed] = [startCommand(), startCommand()];
    const [askedUrl, killedUrl] = await Promise.all([firstLine(asked), firstLine(killed)]);
    assert.equal(new Set([askedUrl, killedUrl, server.url]).size, 3);
    const [askedFolder, killedFolder] = await Promise.all([findFolder(askedUrl), findFolder(killedUrl)]);

    const exited = once(asked, 'exit');
    asked.kill('SIGTERM');
    assert.deepEqual(await exited, [null, 'SIGTERM']);
    assert.ok(!existsSync(askedFolder));

    killed.kill('SIGKILL');
    killed.stdin!.end('0');
    await eventually(() => !existsSync(killedFolder));
    await assert.rejects(query(killedUrl, 'SELECT 1'), { code: 'ECONNREFUSED' });
  });
});

describe('a primary and its standby', () => {
  it('lose no acknowledged row when the primary is killed under load and the standby takes over', async () => {
    await query(server.url, 'CREATE TABLE entry (id int PRIMARY KEY)');
    const standby = await startStandby(server);
    await assert.rejects(query(standby.server.url, 'INSERT INTO entry VALUES (0)'), { code: '25006' });

    const acknowledged = new Set<number>();
    const writers = [1, 2, 3, 4].map((writer) => writeUntilCut(server.url, writer, acknowledged));
    await eventually(() => acknowledged.size >= 100);
    await server.kill();
    await Promise.all(writers);
    await standby.promote();

    const rows = await query(standby.server.url, 'SELECT id FROM entry');
    const present = new Set(rows.map(({ id }) => id));
    const lost = [...acknowledged].filter((id) => !present.has(id));
    assert.deepEqual(lost, []);
    await query(standby.server.url, 'INSERT INTO entry VALUES (0)');
    await standby.server.remove();
  });
});

async function writeUntilCut(url: string, writer: number, acknowledged: Set<number>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    // Within the try: on a busy machine, the primary may be killed before this client has connected.
    await client.connect();
    for (let id = writer * 1_000_000; ; id += 1) {
      await client.query('INSERT INTO entry VALUES ($1)', [id]);
      acknowledged.add(id);
    }
  } catch (error) {
    // A lost connection is not a DatabaseError, unless the server ended it: class 57 (operator intervention).
    if (error instanceof pg.DatabaseError && !error.code?.startsWith('57')) throw error;
  }
}
