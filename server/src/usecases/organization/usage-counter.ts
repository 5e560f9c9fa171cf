import type { OrganizationId } from '../../domain/id.ts';
import { utcDay } from '../../domain/quota.ts';
import type { Store, UsageReport } from '../../storage/store.ts';

/** A request to the public API that has been answered. */
export interface AnsweredRequest {
  readonly organizationId: OrganizationId;
  readonly credentialId: string;
  /** The operation's id; `unknown` if no route matched. */
  readonly operation: string;
  /** `OK`, or the error's code. */
  readonly outcome: string;
  /** When the answer was ready. */
  readonly at: number;
}

type Count = { -readonly [Field in keyof UsageReport]: UsageReport[Field] };

/**
 * Counts answered requests in memory, so that no request waits for statistics. Counts that were not flushed when the
 * process is killed are lost. Memory grows with the number of different requests between flushes, not with all requests.
 */
export class UsageCounter {
  /** By credential. A credential belongs to one organization and has few counts: operations and outcomes are few. */
  #counts = new Map<string, Count[]>();

  count({ organizationId, credentialId, operation, outcome, at }: AnsweredRequest): void {
    this.#add({
      organizationId,
      credentialId,
      operation,
      outcome,
      day: utcDay(at),
      requests: 1,
      lastUsedAt: at,
    });
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
