import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { DatabaseProxy } from '../../harness/nodes/database-proxy.ts';
import { listFaults, Nodes } from '../../harness/nodes/nodes.ts';
import { dropDatabase, testDatabase } from '../../harness/postgres/databases.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { serveAndFail } from '../../harness/service/failing-start.ts';
import { cleanEnvironment, launcher, runSkein, temporaryFolder } from '../../harness/service/service.ts';
import { createThread } from '../../harness/world/world.ts';

/** Five seconds for a connection, plus the time of a start on a busy machine. */
const refusedWithinMs = 20_000;

describe('Nodes on an empty database', () => {
  let nodes: Nodes;
  before(async () => {
    nodes = new Nodes(await testDatabase());
  });
  after(() => nodes.end());

  it('can all start at the same moment and form one empty service', async () => {
    const services = await Promise.all(Array.from({ length: 4 }, () => nodes.start()));
    const keySets = await Promise.all(
      services.map(async ({ baseUrl }) => (await fetch(`${baseUrl}/.well-known/jwks.json`)).json() as any),
    );
    for (const { keys } of keySets) assert.equal(keys.length, 1);
    assert.equal(new Set(keySets.map((keySet) => JSON.stringify(keySet))).size, 1);
    assert.deepEqual(await nodes.skein('org', 'list'), [], 'no demo is made');
    assert.ok(!services.some(({ output }) => output.join('\n').includes('eak_')));
    for (const { output } of services) assert.ok(output.includes('  npx skein org create Example'));

    await nodes.hireAda();
    const { thread } = await createThread(nodes.ada(services[0]!), { prompt: '#say Seen by all.' });
    for (const service of services) {
      const { messages } = await nodes.ada(service).untilDone(thread.id);
      assert.equal(messages[1].content, 'Seen by all.');
      assert.deepEqual(listFaults(service), []);
      assert.equal(await service.end(), 0);
    }
  });

  it('pass every check of the doctor', async () => {
    const { exitCode, stdout } = await nodes.run('doctor');
    assert.equal(exitCode, 0);
    for (const check of ['store', 'clock', 'replies'])
      assert.match(stdout, new RegExp(`^ok +${check} `, 'm'));
    assert.match(stdout, /PostgreSQL \d+/);
    assert.ok(!/disk|sync /.test(stdout), 'what only a file has is not looked at');
    assert.ok(!stdout.includes(new URL(nodes.databaseUrl).password));
  });

  it('reject a server that accepts no writes, and say which one to use', async () => {
    const url = `${nodes.databaseUrl}?options=-c%20default_transaction_read_only%3Don`;
    const { exitCode, stdout, stderr } = await serveAndFail(temporaryFolder(), { SKEIN_DATABASE_URL: url });
    assert.deepEqual([exitCode, stdout], [1, '']);
    assert.match(
      stderr,
      /^skein: SKEIN_DATABASE_URL [^\n]*\(the server does not accept writes: use the address of the primary/,
    );
  });

  it('reject a database that a newer release has written, and say what to install', async () => {
    const client = new pg.Client({ connectionString: nodes.databaseUrl });
    await client.connect();
    await client.query('UPDATE schema_version SET version = version + 1');
    await client.end();
    const { exitCode, stdout, stderr } = await nodes.run('org', 'list');
    assert.deepEqual([exitCode, stdout], [1, '']);
    assert.match(stderr, /^skein: [^\n]*written by a newer release[^\n]*install that release[^\n]*\.\n$/);
    const served = await serveAndFail(temporaryFolder(), { SKEIN_DATABASE_URL: nodes.databaseUrl });
    assert.deepEqual([served.exitCode, served.stderr], [1, stderr]);
  });
});

describe('A node that waits for another one to migrate', () => {
  it('says so, and stops when it is asked to', { timeout: 120_000 }, async (test) => {
    const url = await testDatabase();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    test.after(() => client.end());
    // The lock of migrations.
    await client.query('SELECT pg_advisory_lock(7305301)');
    const env = cleanEnvironment({ SKEIN_PORT: '0', SKEIN_DATABASE_URL: url });
    const node = spawn(launcher, ['serve'], {
      cwd: temporaryFolder(),
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    test.after(() => node.kill('SIGKILL'));
    let printed = '';
    node.stdout.on('data', (data) => {
      printed += data;
    });
    await eventually(() => printed.includes('waiting for another node to migrate the database'));
    const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    await eventually(async () => (await client.query(waiting)).rowCount === 1);
    node.kill('SIGTERM');
    assert.deepEqual(await once(node, 'exit'), [0, null]);
  });
});

describe('An address without a database', { concurrency: 2 }, () => {
  const password = 'hunter2';
  const folder = temporaryFolder();
  let url: string;
  let silent: DatabaseProxy;
  before(async () => {
    url = await testDatabase();
    silent = await DatabaseProxy.start(Number(new URL(url).port));
    silent.fallSilent();
  });
  after(async () => {
    silent.stop();
    await dropDatabase(url);
  });

  const changed = (change: (to: URL) => void): string => {
    const to = new URL(url);
    to.password = password;
    change(to);
    return to.href;
  };
  const rightPassword = (to: URL) => {
    to.password = new URL(url).password;
  };
  const addresses: Record<string, () => string> = {
    'a wrong password': () => changed(() => {}),
    'no password': () =>
      changed((to) => {
        to.password = '';
      }),
    'an unknown user': () =>
      changed((to) => {
        to.username = 'nobody';
      }),
    'an unknown database': () =>
      changed((to) => {
        rightPassword(to);
        to.pathname = '/missing';
      }),
    'a port without a listener': () =>
      changed((to) => {
        to.port = '1';
      }),
    'an unknown host': () =>
      changed((to) => {
        to.hostname = 'database.invalid';
      }),
    'a server that sends nothing': () => silent.rewriteUrl(changed(() => {})),
    'a certificate file that does not exist': () =>
      `${changed(() => {})}?sslmode=verify-full&sslrootcert=/missing.pem`,
  };

  for (const [what, address] of Object.entries(addresses)) {
    it(`makes a node fail to start, quickly and with one sentence that omits the password: ${what}`, async () => {
      const environment = { SKEIN_DATABASE_URL: address() };
      const began = Date.now();
      const outcomes = await Promise.all([
        serveAndFail(folder, environment),
        runSkein(folder, ['org', 'list'], environment),
      ]);
      for (const { exitCode, stdout, stderr } of outcomes) {
        assert.deepEqual([exitCode, stdout], [1, ''], stderr);
        assert.match(stderr, /^skein: SKEIN_DATABASE_URL [^\n]+\.\n$/);
        for (const secret of [password, new URL(url).password]) assert.ok(!stderr.includes(secret), stderr);
      }
      assert.ok(Date.now() - began < refusedWithinMs, `refused after ${Date.now() - began} ms`);
    });
  }
});
