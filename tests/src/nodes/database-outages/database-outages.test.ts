import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { ConsoleClient, signedInAgain } from '../../../harness/console/console-client.ts';
import { DatabaseProxy } from '../../../harness/nodes/database-proxy.ts';
import { isReady, Nodes } from '../../../harness/nodes/nodes.ts';
import { answeredWithinMs, leaseMs, OutageLoad, replySettings } from '../../../harness/nodes/outage-load.ts';
import { type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { startStandby } from '../../../harness/postgres/standby.ts';
import { eventually } from '../../../harness/service/eventually.ts';
import { MailServer } from '../../../harness/service/mail-server.ts';
import type { Service } from '../../../harness/service/service.ts';

const isLongerThanLease = (ms: number) => ms > leaseMs;

describe('A database that goes away and comes back under load', () => {
  let database: PostgresServer;
  let nodes: Nodes;
  let services: Service[];
  before(async () => {
    database = await startPostgres();
    nodes = await Nodes.prepare(replySettings, database.url);
    services = await Promise.all([nodes.start(), nodes.start()]);
  });
  after(async () => {
    await nodes?.end();
    await database?.remove();
  });

  it('only fails requests during the outage: nothing acknowledged is lost, and no node needs a restart', {
    timeout: 600_000,
  }, async (t) => {
    const load = new OutageLoad(nodes, services);
    for (const leave of [() => database.stop('fast'), () => database.kill()]) {
      await load.goOn();
      await leave();
      const leftAt = Date.now();
      await load.suffer();
      await eventually(() => Date.now() - leftAt, isLongerThanLease);
      await database.start();
      await Promise.all(services.map((service) => eventually(() => isReady(service), Boolean)));
    }
    await load.goOn();
    await load.judge();
    t.diagnostic(load.describe());
  });

  it('does not keep a node from stopping while it is down', { timeout: 60_000 }, async () => {
    const asked = await nodes.ada(services[0]!).create({ prompt: '#say Begun.\n#hang' });
    await nodes.ada(services[0]!).until(asked.body.thread.id, ({ messages }) => messages[1].content !== '');
    await database.kill();
    const began = Date.now();
    assert.deepEqual(await Promise.all(services.map((service) => service.end())), [0, 0]);
    assert.ok(Date.now() - began < answeredWithinMs, `stopping took ${Date.now() - began} ms`);
  });
});

describe('Forgot password?', () => {
  it('fails while the database is down, equally for every address, and works afterwards', async (t) => {
    const database = await startPostgres();
    const mails = await MailServer.start();
    const nodes = await Nodes.prepare(mails.environment(), database.url);
    t.after(async () => {
      await nodes.end();
      await mails.close();
      await database.remove();
    });
    const service = await nodes.start();
    await signedInAgain(service, nodes.organization, 'ada@acme.example');
    const ask = async (email: string) => {
      const { status, body } = await new ConsoleClient(service.baseUrl).post('/password-link', { email });
      return [status, body.error?.code];
    };
    await database.stop('fast');
    for (const email of ['ada@acme.example', 'nobody@acme.example'])
      assert.deepEqual(await ask(email), [500, 'INTERNAL_ERROR']);
    await database.start();
    await eventually(() => isReady(service), Boolean);
    assert.deepEqual(await ask('ada@acme.example'), [200, undefined]);
    await eventually(() => mails.received.some(({ raw }) => raw.includes('asked for a link')));
  });
});

describe('A synchronous standby that takes over under load', () => {
  const running: { nodes?: Nodes; proxy?: DatabaseProxy; servers: PostgresServer[] } = { servers: [] };
  afterEach(async () => {
    await running.nodes?.end();
    running.proxy?.stop();
    await Promise.all(running.servers.splice(0).map((server) => server.remove()));
  });

  async function startPair() {
    const primary = await startPostgres();
    running.servers.push(primary);
    const standby = await startStandby(primary);
    running.servers.push(standby.server);
    return { primary, standby };
  }

  /** `onKill` is what somebody does when the primary is gone, before the standby is promoted. */
  async function failOver(
    { primary, standby }: Awaited<ReturnType<typeof startPair>>,
    url: string,
    onKill: () => void,
  ): Promise<string> {
    const nodes = await Nodes.prepare(replySettings, url);
    running.nodes = nodes;
    const services = await Promise.all([nodes.start(), nodes.start()]);
    const load = new OutageLoad(nodes, services);
    await load.goOn();
    await primary.kill();
    onKill();
    await load.suffer();
    await standby.promote();
    await Promise.all(services.map((service) => eventually(() => isReady(service), Boolean)));
    await load.goOn();
    await load.judge();
    for (const service of services) assert.equal(await service.end(), 0);
    return load.describe();
  }

  it('has every acknowledged write, and the nodes find it by themselves behind a proxy', {
    timeout: 600_000,
  }, async (t) => {
    const pair = await startPair();
    const proxy = await DatabaseProxy.start(pair.primary.port);
    running.proxy = proxy;
    // Before the promotion the nodes can read but not serve, and report that they are not ready.
    const leadThere = () => proxy.switchTo(pair.standby.server.port);
    t.diagnostic(await failOver(pair, proxy.rewriteUrl(pair.primary.url), leadThere));
  });

  it('has every acknowledged write, and the nodes find it by themselves with both hosts in their URL', {
    timeout: 600_000,
  }, async (t) => {
    const pair = await startPair();
    const { password, port } = pair.primary;
    // The standby comes first: the order does not matter.
    const hosts = `127.0.0.1:${pair.standby.server.port},127.0.0.1:${port}`;
    const url = `postgres://postgres:${password}@${hosts}/postgres?target_session_attrs=read-write`;
    t.diagnostic(await failOver(pair, url, () => {}));
  });
});
