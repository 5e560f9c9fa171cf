import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, describe, it } from 'node:test';
import { isReady, Nodes } from '../../../harness/nodes/nodes.ts';
import { OutageLoad, replySettings } from '../../../harness/nodes/outage-load.ts';
import { PgBouncer } from '../../../harness/nodes/pgbouncer.ts';
import { dropDatabase, testDatabase } from '../../../harness/postgres/databases.ts';
import { eventually } from '../../../harness/service/eventually.ts';
import { findProgram } from '../../../harness/service/machine.ts';
import { createThread } from '../../../harness/world/world.ts';

const program = findProgram('pgbouncer');
const skip = program === undefined && 'PgBouncer is not installed: apt-get install pgbouncer';
const keepsStatements = program !== undefined && isFrom1_21(program);

describe('A PgBouncer in front of the database', { skip }, () => {
  const running: PgBouncer[] = [];
  const databases: string[] = [];
  after(async () => {
    for (const one of running) await one.stop();
    for (const url of databases) await dropDatabase(url);
  });

  async function startPooler(settings: Record<string, string>): Promise<PgBouncer> {
    const database = await testDatabase();
    databases.push(database);
    const pooler = await PgBouncer.start(program!, database, settings);
    running.push(pooler);
    return pooler;
  }
  async function pooled(settings: Record<string, string>): Promise<Nodes> {
    return new Nodes((await startPooler(settings)).url);
  }
  async function assertServes(one: Nodes): Promise<void> {
    await one.hireAda();
    const service = await one.start();
    const api = one.ada(service);
    const { thread } = await createThread(api, { prompt: '#say Through the pooler.' });
    assert.equal((await api.untilDone(thread.id)).messages[1].content, 'Through the pooler.');
    assert.equal(await service.end(), 0);
  }

  it('is rejected at startup, with the name of the setting, if it loses prepared statements', async () => {
    const off = keepsStatements ? { max_prepared_statements: '0' } : {};
    const one = await pooled({ pool_mode: 'transaction', ...off });
    const { exitCode, stderr } = await one.run('org', 'create', 'Acme');
    assert.equal(exitCode, 1);
    assert.match(
      stderr,
      /max_prepared_statements above 0 \(PgBouncer 1\.21 or newer\), or pool_mode = session/,
    );
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
  });

  it('works in session mode', { timeout: 60_000 }, async () => {
    await assertServes(await pooled({ pool_mode: 'session' }));
  });

  it('works in transaction mode with prepared statements', {
    timeout: 60_000,
    skip: !keepsStatements && 'this PgBouncer is older than 1.21',
  }, async () => {
    await assertServes(await pooled({ pool_mode: 'transaction', max_prepared_statements: '200' }));
  });

  it('can be killed and restarted under load: nothing is lost, and no reply fails', {
    timeout: 240_000,
  }, async (t) => {
    const mode = keepsStatements
      ? { pool_mode: 'transaction', max_prepared_statements: '200' }
      : // Room for ten connections of each node and one for notices. Otherwise a request waits until another is idle for 30 s.
        { pool_mode: 'session', default_pool_size: '30' };
    const pooler = await startPooler(mode);
    const nodes = await Nodes.prepare(replySettings, pooler.url);
    const services = await Promise.all([nodes.start(), nodes.start()]);
    const load = new OutageLoad(nodes, services);
    for (let restarts = 0; restarts < 5; restarts += 1) {
      await load.goOn();
      await pooler.stop();
      // Every second time it stays away until callers get errors.
      if (restarts % 2 === 1) await load.suffer();
      await pooler.startAgain();
      await Promise.all(services.map((service) => eventually(() => isReady(service), Boolean)));
    }
    await load.goOn();
    await load.judge();
    t.diagnostic(load.describe());
    assert.deepEqual(await Promise.all(services.map((service) => service.end())), [0, 0]);
  });

  it('is rejected if it does not ignore statement_timeout, with the setting to change', async () => {
    const one = await pooled({ pool_mode: 'session', ignore_startup_parameters: 'extra_float_digits' });
    const { exitCode, stderr } = await one.run('org', 'create', 'Acme');
    assert.equal(exitCode, 1);
    assert.match(stderr, /ignore_startup_parameters = statement_timeout in PgBouncer/);
  });
});

function isFrom1_21(path: string): boolean {
  const text = execFileSync(path, ['--version'], { encoding: 'utf8' });
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(text) ?? [];
  return Number(major) > 1 || Number(minor) >= 21;
}
