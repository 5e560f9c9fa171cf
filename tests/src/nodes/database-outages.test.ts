import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { Ledger } from '../ledger.ts';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { startStandby } from '../postgres/standby.ts';
import { Observations } from '../replies/observations.ts';
import { eventually } from '../replies/shared-store.ts';
import type { Service } from '../service.ts';
import { DatabaseProxy } from './database-proxy.ts';
import { isReady, Nodes } from './nodes.ts';

/** So short that outages outlast it, and so long that both nodes have time to renew once the database is back. */
const leaseMs = 2000;
/** An outage that cost a reply an attempt would fail it. */
const replySettings = { SKEIN_REPLY_LEASE_MS: String(leaseMs), SKEIN_REPLY_ATTEMPTS: '1' };
const writersEach = 3;
const writesBetween = 40;
/** Five seconds for a connection; the rest is for a machine that is busy. */
const answeredWithinMs = 15_000;

/** Writers on every node, while the database goes away and comes back. */
class Load {
  readonly ledger = new Ledger({ replyMs: 300, storeMayFail: true });
  readonly #nodes: Nodes;
  readonly #services: readonly Service[];
  readonly #writing: Promise<unknown>;
  #enough = false;

  constructor(nodes: Nodes, services: readonly Service[]) {
    this.#nodes = nodes;
    this.#services = services;
    this.#writing = Promise.all(
      services.flatMap((service, node) =>
        Array.from({ length: writersEach }, (_, writer) =>
          this.ledger.write(nodes.ada(service), `${node}-${writer}`, () => this.#enough),
        ),
      ),
    );
  }

  /** So many writes more than now are acknowledged. */
  async goOn(): Promise<void> {
    const before = this.ledger.acknowledged;
    await Promise.race([
      eventually(
        () => this.ledger.acknowledged,
        (acknowledged) => acknowledged >= before + writesBetween,
        60_000,
      ),
      this.#writing.then(() => assert.fail('the writers have ended')),
    ]);
  }

  /** Callers are told of failures, and the nodes that they are not ready. */
  async suffer(): Promise<void> {
    const before = this.ledger.failed;
    await Promise.all([
      eventually(
        () => this.ledger.failed,
        (failed) => failed >= before + 2 * writersEach,
      ),
      ...this.#services.map((service) => eventually(() => isReady(service), isFalse)),
    ]);
  }

  /** Ends the writers; all that they were told is there, on every node, and every reply ends. */
  async judge(): Promise<void> {
    this.#enough = true;
    await this.#writing;
    const [first, second] = this.#services.map((service) => this.#nodes.ada(service));
    await this.ledger.retryUnanswered(first!, second);
    for (const api of [first!, second!]) await this.ledger.assertAllThere(api);
    const seen = new Observations();
    await seen.untilAllEnded(first!, this.ledger.asked);
    assert.deepEqual(seen.statuses(), ['completed']);
    await seen.lookAt(second!, this.ledger.asked);
    assert.ok(this.ledger.slowestMs < answeredWithinMs, `a request took ${this.ledger.slowestMs} ms`);
    assert.ok(this.ledger.cutOff === 0 && this.ledger.deletions > 0);
  }
}

const isFalse = (value: boolean) => !value;
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

  it('costs callers nothing but failures meanwhile: nothing acknowledged is lost, and no node has to be restarted', {
    timeout: 120_000,
  }, async (t) => {
    const load = new Load(nodes, services);
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
    t.diagnostic(describeLoad(load));
  });

  it('keeps no node from stopping while it is away', { timeout: 60_000 }, async () => {
    const asked = await nodes.ada(services[0]!).create({ prompt: '#say Begun.\n#hang' });
    await nodes.ada(services[0]!).until(asked.body.thread.id, ({ messages }) => messages[1].content !== '');
    await database.kill();
    const began = Date.now();
    assert.deepEqual(await Promise.all(services.map((service) => service.end())), [0, 0]);
    assert.ok(Date.now() - began < answeredWithinMs, `stopping took ${Date.now() - began} ms`);
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
    const load = new Load(nodes, services);
    await load.goOn();
    await primary.kill();
    onKill();
    await load.suffer();
    await standby.promote();
    await Promise.all(services.map((service) => eventually(() => isReady(service), Boolean)));
    await load.goOn();
    await load.judge();
    for (const service of services) assert.equal(await service.end(), 0);
    return describeLoad(load);
  }

  it('has all that was acknowledged, and the nodes find it by themselves behind a proxy', {
    timeout: 120_000,
  }, async (t) => {
    const pair = await startPair();
    const proxy = await DatabaseProxy.start(pair.primary.port);
    running.proxy = proxy;
    // Led there too early, the nodes can read, but serve nobody, and say so.
    const leadThere = () => proxy.switchTo(pair.standby.server.port);
    t.diagnostic(await failOver(pair, proxy.urlOf(pair.primary.url), leadThere));
  });

  it('has all that was acknowledged, and the nodes find it by themselves with both hosts in their URL', {
    timeout: 120_000,
  }, async (t) => {
    const pair = await startPair();
    const { password, port } = pair.primary;
    // The standby comes first: the order does not matter.
    const hosts = `127.0.0.1:${pair.standby.server.port},127.0.0.1:${port}`;
    const url = `postgres://postgres:${password}@${hosts}/postgres?target_session_attrs=read-write`;
    t.diagnostic(await failOver(pair, url, () => {}));
  });
});

function describeLoad({ ledger: { acknowledged, failed, asked, slowestMs } }: Load): string {
  return `${acknowledged} acknowledged, ${failed} refused, ${asked.length} replies completed, the slowest answer took ${Math.round(slowestMs)} ms`;
}
