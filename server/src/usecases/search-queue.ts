import { ServiceError } from '../domain/errors.ts';
import { FairQueue } from '../domain/fair-queue.ts';
import type { OrganizationId } from '../domain/id.ts';

/** How many searches of one organization may wait. */
const waitingMax = 8;
/** Most searches take a few milliseconds. */
const soon = { retryAfterSeconds: 1 };

/** Runs few searches at once. Organizations take turns. */
export class SearchQueue {
  readonly #places: FairQueue<OrganizationId>;

  /** `ofOneMax`: how many searches of one organization run at once. */
  constructor(places: number, ofOneMax = places) {
    this.#places = new FairQueue(places, ofOneMax);
  }

  /**
   * Rejects with RATE_LIMITED if too many searches of the organization are waiting, or if `signal` aborts before this
   * one has started or ends it.
   */
  async run<T>(
    organizationId: OrganizationId,
    signal: AbortSignal | undefined,
    search: () => Promise<T>,
  ): Promise<T> {
    if (this.#places.waiting(organizationId) >= waitingMax) {
      const sentence = `Your organization has ${waitingMax} searches waiting: try again in a moment.`;
      throw new ServiceError('RATE_LIMITED', sentence, soon);
    }
    try {
      return await this.#places.run(organizationId, search, signal);
    } catch (error) {
      if (!signal?.aborted || error !== signal.reason) throw error;
      throw new ServiceError('RATE_LIMITED', 'The search took too long: try again in a moment.', soon);
    }
  }
}
