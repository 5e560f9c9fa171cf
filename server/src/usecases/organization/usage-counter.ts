import type { OrganizationId } from '../../domain/id.ts';
import { utcDay } from '../../domain/quota.ts';
import type { UsageReport } from '../../storage/store.ts';

/** A request of the public interface that has been answered. */
export interface AnsweredRequest {
  readonly organizationId: OrganizationId;
  readonly credentialId: string;
  /** The operation's id; `unknown` where the address names none. */
  readonly operation: string;
  /** `OK`, or the error's code. */
  readonly outcome: string;
  /** When its answer was ready. */
  readonly at: number;
}

type Count = { -readonly [Field in keyof UsageReport]: UsageReport[Field] };

/**
 * Counts answered requests in memory, so that no request waits for a statistic. What was not taken when the process is
 * killed is lost. There are as many counts as different requests since the last `take`, not as many as requests.
 */
export class UsageCounter {
  /** By credential, which belongs to one organization for good. Each has few: there are few operations and outcomes. */
  #counts = new Map<string, Count[]>();

  count({ organizationId, credentialId, operation, outcome, at }: AnsweredRequest): void {
    this.#add(organizationId, credentialId, operation, outcome, utcDay(at), 1, at);
  }

  /** What was counted since it was last asked for: whoever takes it keeps it, or gives it back. */
  take(): UsageReport[] {
    const reports = [...this.#counts.values()].flat();
    this.#counts = new Map();
    return reports;
  }

  giveBack(reports: readonly UsageReport[]): void {
    for (const report of reports) {
      const { organizationId, credentialId, operation, outcome, day, requests, lastUsedAt } = report;
      this.#add(organizationId, credentialId, operation, outcome, day, requests, lastUsedAt);
    }
  }

  // Once for every request: looking through a short list costs a third of putting a name together for each.
  #add(
    organizationId: OrganizationId,
    credentialId: string,
    operation: string,
    outcome: string,
    day: number,
    requests: number,
    lastUsedAt: number,
  ): void {
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
    counts.push({ organizationId, credentialId, operation, outcome, day, requests, lastUsedAt });
  }
}
