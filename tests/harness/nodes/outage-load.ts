import assert from 'node:assert/strict';
import { listCrashes } from '../replies/crashes.ts';
import { Ledger } from '../replies/ledger.ts';
import { Observations } from '../replies/observations.ts';
import { eventually } from '../service/eventually.ts';
import type { Service } from '../service/service.ts';
import { isReady, type Nodes } from './nodes.ts';

/** Short enough for outages to outlast it, and long enough for both nodes to renew once the database is back. */
export const leaseMs = 2000;
/** With one attempt, a reply fails if an outage counts as a failure of the model. */
export const replySettings = { SKEIN_REPLY_LEASE_MS: String(leaseMs), SKEIN_REPLY_ATTEMPTS: '1' };
const writersEach = 3;
const writesBetween = 40;
/** A connection may take five seconds; the rest is for a busy machine. A request that hangs takes 35 s. */
export const answeredWithinMs = 30_000;

/** Writers on every node, while the database goes away and comes back. */
export class OutageLoad {
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

  /** Waits until a number of new writes has been acknowledged. */
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

  /** Waits until callers get errors and the nodes report that they are not ready. */
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

  /** Stops the writers. Fails unless every node has everything that was acknowledged, and every reply ends. */
  async judge(): Promise<void> {
    this.#enough = true;
    await this.#writing;
    const [first, second] = this.#services.map((service) => this.#nodes.ada(service));
    await this.ledger.retryUnanswered(first!, second);
    for (const api of [first!, second!]) await this.ledger.assertAllThere(api);
    const seen = new Observations();
    await seen.untilAllEnded(first!, this.ledger.asked);
    assert.deepEqual(seen.statuses(), ['completed']);
    assert.deepEqual(this.#services.flatMap(listCrashes), [], 'no outage counts as a crash');
    await seen.lookAt(second!, this.ledger.asked);
    assert.ok(this.ledger.slowestMs < answeredWithinMs, `a request took ${this.ledger.slowestMs} ms`);
    assert.ok(this.ledger.cutOff === 0 && this.ledger.deletions > 0);
  }

  describe(): string {
    const { acknowledged, failed, asked, slowestMs } = this.ledger;
    return `${acknowledged} acknowledged, ${failed} refused, ${asked.length} replies completed, the slowest answer took ${Math.round(slowestMs)} ms`;
  }
}

const isFalse = (value: boolean) => !value;
