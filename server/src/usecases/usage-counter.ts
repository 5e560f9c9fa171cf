import type { OrganizationId } from '../domain/id.ts';
import { utcDay } from '../domain/quota.ts';
import type { UsageReport } from '../storage/store.ts';

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
  #counts = new Map<string, Count>();

  count({ organizationId, credentialId, operation, outcome, at }: AnsweredRequest): void {
    this.#add({
      organizationId,
      day: utcDay(at),
      credentialId,
      operation,
      outcome,
      requests: 1,
      lastUsedAt: at,
    });
  }

  /** What was counted since it was last asked for: whoever takes it keeps it, or gives it back. */
  take(): UsageReport[] {
    const reports = [...this.#counts.values()];
    this.#counts = new Map();
    return reports;
  }

  giveBack(reports: readonly UsageReport[]): void {
    for (const report of reports) this.#add(report);
  }

  #add(report: UsageReport): void {
    // A credential belongs to one organization for good.
    const name = `${report.credentialId} ${report.operation} ${report.outcome} ${report.day}`;
    const known = this.#counts.get(name);
    if (known === undefined) {
      this.#counts.set(name, { ...report });
      return;
    }
    known.requests += report.requests;
    known.lastUsedAt = Math.max(known.lastUsedAt, report.lastUsedAt);
  }
}
