import { utcDay } from '../../domain/quota.ts';
import type { Store, UsageReport } from '../../storage/store.ts';

type Count = { -readonly [Field in keyof UsageReport]: UsageReport[Field] };

/**
 * Counts answered requests in memory, so that no request waits for statistics. Counts that were not flushed when the
 * process is killed are lost. Memory grows with the number of different requests between flushes, not with all requests.
 */
export class UsageCounter {
  /** By credential. A credential belongs to one organization and has few counts: operations and outcomes are few. */
  #counts = new Map<string, Count[]>();

  /** Counts a request that was answered at `at`. `outcome` is `OK` or the error's code. */
  count({ at, ...request }: Omit<UsageReport, 'day' | 'requests' | 'lastUsedAt'> & { at: number }): void {
    this.#add({ ...request, day: utcDay(at), requests: 1, lastUsedAt: at });
  }

  /** Stores the counts since the last flush. If the store fails, it keeps them for the next flush and rejects. */
  async flush(store: Pick<Store, 'addUsage'>): Promise<void> {
    const reports = [...this.#counts.values()].flat();
    if (reports.length === 0) return;
    this.#counts = new Map();
    try {
      await store.addUsage(reports);
    } catch (error) {
      for (const report of reports) this.#add(report);
      throw error;
    }
  }

  // A linear search, because this runs for every request: building a composite key costs three times as much.
  #add(report: UsageReport): void {
    const { credentialId, operation, outcome, day, requests, lastUsedAt } = report;
    let counts = this.#counts.get(credentialId);
    if (counts === undefined) {
      counts = [];
      this.#counts.set(credentialId, counts);
    }
    for (const known of counts) {
      if (known.operation !== operation || known.outcome !== outcome || known.day !== day) continue;
      known.requests += requests;
      known.lastUsedAt = Math.max(known.lastUsedAt, lastUsedAt);
      return;
    }
    counts.push({ ...report });
  }
}
