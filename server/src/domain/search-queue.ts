import { FairQueue, type Signal } from '../../../runtime/src/pure/fair-queue.ts';
import { rateLimited } from './errors.ts';
import type { OrganizationId } from './id.ts';

const waitingMax = 8;
/** Most searches take a few milliseconds. */
const retryAfterSeconds = 1;

/** Runs few searches at once. Organizations take turns. */
export class SearchQueue extends FairQueue<OrganizationId> {
  /** Rejects with RATE_LIMITED if too many of the organization wait, or if `signal` aborts before this one has ended. */
  override async run<T>(key: OrganizationId, search: () => Promise<T>, signal?: Signal): Promise<T> {
    if (this.waiting(key) >= waitingMax) {
      const sentence = `Your organization has ${waitingMax} searches waiting. Try again in a moment.`;
      throw rateLimited(sentence, retryAfterSeconds);
    }
    try {
      return await super.run(key, search, signal);
    } catch (error) {
      if (!signal?.aborted || error !== signal.reason) throw error;
      throw rateLimited('The search took too long. Try again in a moment.', retryAfterSeconds);
    }
  }
}
