import type { OrganizationId } from '../domain/id.ts';
import type { ClaimedReply, Replies, ReplyQueue, ReplyShare } from '../storage/port/store.ts';

interface Parts {
  readonly store: Pick<Replies, 'organizationsWaiting' | 'claimReplies'>;
  readonly queue: ReplyQueue;
  readonly slots: number;
  readonly leaseMs: number;
  /** How organizations with waiting replies share the free slots. */
  share(
    free: number,
    organizations: readonly OrganizationId[],
    countReplies: (organization: OrganizationId) => number,
  ): readonly ReplyShare[];
  /** Must occupy a slot for the reply in the same turn. */
  begin(reply: ClaimedReply): void;
  failed(error: unknown): void;
}

/** The slots of a worker for replies from one queue, which it fills with claims. */
export class ReplySlots {
  readonly #parts: Parts;
  /** Slots for running replies and for those that are being created, by organization. */
  readonly #occupied = new Map<OrganizationId, number>();
  /** Slots that are neither occupied nor about to be filled by a claim. */
  #free: number;
  #lastServed: OrganizationId | undefined;
  #state: 'idle' | 'claiming' | 'claiming-again' | 'stopped' = 'idle';
  #claiming: Promise<void> = Promise.resolve();
  /** Whether replies were still waiting after the last claim. */
  #moreWaiting = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#free = parts.slots;
  }

  wake(): void {
    if (this.#state === 'idle') this.#claiming = this.#claimAll();
    else if (this.#state === 'claiming') this.#state = 'claiming-again';
  }

  /** Claims nothing from now on. Resolves when the last claim has begun. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    await this.#claiming;
  }

  /** Whether the organization may take a slot now, ahead of no waiting reply. */
  isFreeFor(organization: OrganizationId): boolean {
    if (this.#state === 'stopped' || this.#moreWaiting) return false;
    return this.#parts.share(this.#free, [organization], this.#countReplies).length > 0;
  }

  /** Takes a slot for a reply of the organization. Returns a function that frees it. */
  occupy(organization: OrganizationId): () => void {
    const change = (by: 1 | -1) => {
      this.#free -= by;
      const count = this.#countReplies(organization) + by;
      if (count === 0) this.#occupied.delete(organization);
      else this.#occupied.set(organization, count);
    };
    change(1);
    return () => {
      change(-1);
      if (this.#moreWaiting) this.wake();
    };
  }

  async #claimAll(): Promise<void> {
    this.#state = 'claiming';
    do await this.#claimSome().catch(this.#parts.failed);
    while (this.#endClaim());
  }

  /** Returns whether it has to claim again, because it was woken in the meantime. */
  #endClaim(): boolean {
    if (this.#state === 'stopped') return false;
    const isWoken = this.#state === 'claiming-again';
    this.#state = isWoken ? 'claiming' : 'idle';
    return isWoken;
  }

  async #claimSome(): Promise<void> {
    const { store, queue, leaseMs, share, begin } = this.#parts;
    // Organizations that already hold their share are listed too, and must not hide the others.
    const listed = this.#free + this.#occupied.size;
    const waiting = await store.organizationsWaiting(this.#lastServed, listed, queue);
    this.#moreWaiting = waiting.length > 0;
    if (this.#state === 'stopped') return;
    // Counted after the wait, because creates may have reserved slots in the meantime.
    const free = this.#free;
    const shares = share(free, waiting, this.#countReplies);
    if (shares.length === 0) return;
    this.#free = 0;
    const claimed = await store.claimReplies(shares, leaseMs, queue).finally(() => {
      this.#free += free;
    });
    this.#lastServed = shares.at(-1)?.organizationId;
    for (const reply of claimed) begin(reply);
    // There may be more.
    if (claimed.length > 0) this.wake();
  }

  readonly #countReplies = (organization: OrganizationId) => this.#occupied.get(organization) ?? 0;
}
