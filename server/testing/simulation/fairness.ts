import type { OrganizationId } from '../../src/domain/id.ts';
import type { SimulatedProcess } from './event-loop.ts';
import type { ReplyTruth } from './truth.ts';

/** The store does not detect a forward jump of its clock below this. */
export const unnoticedJumpMs = 2000;

/** How long a node may take to learn that a reply has ended. */
const learnsWithinMs = 1000;

/** An organization without a running reply on a node gets one of the slots that the node assigns. */
export class Fairness {
  /** When each node last read which organizations wait. */
  readonly #lookedMs = new Map<SimulatedProcess, number>();
  /** When a claim of an organization on a node last ended. */
  readonly #leftMs = new Map<string, number>();

  looked(node: SimulatedProcess, nowMs: number): void {
    this.#lookedMs.set(node, nowMs);
  }

  left(organizationId: OrganizationId, node: SimulatedProcess, nowMs: number): void {
    this.#leftMs.set(`${organizationId} ${node.name}`, nowMs);
  }

  /** An organization that was waiting when the node looked, and got no slot. */
  passedOver(
    node: SimulatedProcess,
    running: Iterable<ReplyTruth>,
    nowMs: number,
  ): OrganizationId | undefined {
    const served = new Set<OrganizationId>();
    const waiting = new Set<OrganizationId>();
    const lookedMs = this.#lookedMs.get(node) ?? 0;
    for (const { claim, thread, waitingSinceMs, deadlineMs } of running) {
      if (claim?.node === node) served.add(thread.organizationId);
      const isDue = waitingSinceMs < lookedMs && nowMs < deadlineMs - unnoticedJumpMs;
      if (claim === undefined && isDue) waiting.add(thread.organizationId);
    }
    const leftMs = (id: OrganizationId) => this.#leftMs.get(`${id} ${node.name}`) ?? -learnsWithinMs;
    return [...waiting].find((id) => !served.has(id) && nowMs - leftMs(id) >= learnsWithinMs);
  }
}
