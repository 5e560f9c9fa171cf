import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { openTestDatabase, poolSettings } from '../../../testing/contract/postgres-database.ts';
import { migrationsFolder, readMigrations } from '../migrations/migrations.ts';
import { Statement } from '../sql/sql.ts';
import { Database } from './database.ts';
import { bringUpToDate } from './migrate.ts';
import { Servers, tooManyConnections } from './servers.ts';
import { StoreTime } from './store-time.ts';

const clock = { steady: () => performance.now() };
const ownBackend = Statement.for()('own-backend')`SELECT pg_backend_pid() AS pid`;
const idleTimeout = Statement.for()('idle-timeout')`
  SELECT current_setting('idle_in_transaction_session_timeout') AS timeout`;
const terminate = Statement.for()('terminate')`SELECT pg_terminate_backend(:pid, 5000)`;

describe('A connection that breaks between two statements of a transaction', () => {
  let testDatabase: Awaited<ReturnType<typeof openTestDatabase>>;
  let database: Database;
  before(async () => {
    testDatabase = await openTestDatabase();
    database = new Database(new Servers(testDatabase.url), new StoreTime(clock), poolSettings);
  });
  after(async () => {
    await database?.close();
    await testDatabase.close();
  });

  it('fails only that transaction', async () => {
    const broken = database.transaction(async (run) => {
      const [backend] = await run<{ pid: number }>(ownBackend);
      await database.run(terminate, { pid: backend!.pid });
      // An error event without a listener would end this process here.
      await pause(50);
      await run(ownBackend);
    });
    await assert.rejects(broken, /terminat|not queryable/);
    assert.equal((await database.run(ownBackend)).length, 1);
  });

  it('is broken by the server if the process freezes there', async () => {
    assert.deepEqual(await database.transaction((run) => run(idleTimeout)), [{ timeout: '10s' }]);
  });
});

describe('A server that grants fewer connections than the pool may open', () => {
  const role = `skein_few_${process.pid}`;
  let testDatabase: Awaited<ReturnType<typeof openTestDatabase>>;
  let client: pg.Client;
  let limitedUrl: string;
  before(async () => {
    testDatabase = await openTestDatabase();
    client = await new Servers(testDatabase.url).connect({});
    const url = new URL(testDatabase.url);
    await client.query(`CREATE ROLE ${role} LOGIN PASSWORD '${url.password}' CONNECTION LIMIT 3`);
    await client.query(`ALTER SCHEMA public OWNER TO ${role}`);
    url.username = role;
    limitedUrl = url.href;
  });
  after(async () => {
    await client?.query(`DROP OWNED BY ${role}`);
    await client?.query(`DROP ROLE ${role}`);
    await client?.end();
    await testDatabase.close();
  });

  /** Returns how many connections the server has refused to this process since the call. */
  function countRefused(test: TestContext): () => number {
    let refused = 0;
    const note = (error: unknown) => {
      if ((error as { code?: string } | undefined)?.code === tooManyConnections) refused += 1;
    };
    type Connect = (callback?: (error?: Error) => void) => Promise<void> | undefined;
    const connect = pg.Client.prototype.connect as Connect;
    // A pool passes a callback, the search for the primary does not.
    test.mock.method(pg.Client.prototype, 'connect', function (this: pg.Client, callback) {
      const connected = connect.call(
        this,
        callback &&
          ((error) => {
            note(error);
            callback(error);
          }),
      );
      connected?.catch(note);
      return connected;
    } as Connect);
    return () => refused;
  }

  async function assertAnswersAll(test: TestContext, url: string) {
    const refused = countRefused(test);
    const database = new Database(new Servers(url), new StoreTime(clock), poolSettings);
    try {
      const calls = Array.from({ length: 40 }, (_, place) =>
        place % 2 === 0 ? database.run(ownBackend) : database.transaction((run) => run(ownBackend)),
      );
      assert.equal((await Promise.all(calls)).flat().length, 40);
      assert.ok(refused() > 0, 'the server has refused a connection');
    } finally {
      await database.close();
    }
  }

  it('serves every call over the connections that it grants', (test) => assertAnswersAll(test, limitedUrl));

  it('serves every call over the connections that it grants if it is one of several', (test) => {
    const { host } = new URL(limitedUrl);
    return assertAnswersAll(test, limitedUrl.replace(host, `${host},${host}`));
  });
});

describe('The schema of a PostgreSQL database', () => {
  let testDatabase: Awaited<ReturnType<typeof openTestDatabase>>;
  let client: pg.Client;
  const folder = mkdtempSync(join(tmpdir(), 'skein-migrations-'));
  before(async () => {
    testDatabase = await openTestDatabase();
    client = await new Servers(testDatabase.url).connect({});
    cpSync(migrationsFolder, folder, { recursive: true });
    writeFileSync(join(folder, '900-add-note.sql'), 'CREATE TABLE note (text text NOT NULL);');
  });
  after(async () => {
    await client?.end();
    await testDatabase.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('gets a migration that was added since the store was written, and is then rejected by an older release', async () => {
    await bringUpToDate(client);
    await bringUpToDate(client, { migrations: readMigrations('postgres', folder) });
    assert.deepEqual((await client.query('SELECT version FROM schema_version')).rows, [{ version: 900 }]);
    assert.deepEqual((await client.query('SELECT * FROM note')).rows, []);
    await assert.rejects(bringUpToDate(client), /written by a newer release \(schema 900/);
  });

  it('is migrated under a lock that a node loses if it freezes', async () => {
    const text =
      "CREATE TABLE seen AS SELECT current_setting('idle_in_transaction_session_timeout') AS timeout";
    await bringUpToDate(client, { migrations: { version: 901, after: () => [text] } });
    assert.deepEqual((await client.query('SELECT * FROM seen')).rows, [{ timeout: '10s' }]);
  });

  it('keeps the versions of another program, which has a table of the same name', async () => {
    await client.query('CREATE SCHEMA other; SET search_path = other');
    await client.query("CREATE TABLE schema_version AS SELECT '0.9' AS version");
    await assert.rejects(bringUpToDate(client), /in use by another program: choose another/);
    assert.deepEqual((await client.query('SELECT version FROM schema_version')).rows, [{ version: '0.9' }]);
    await client.query('RESET search_path');
  });
});
