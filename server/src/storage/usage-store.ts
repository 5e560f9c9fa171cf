import type { OrganizationId } from '../domain/id.ts';

/** Requests of one UTC day that have all but their number in common. */
export interface UsageCount {
  readonly day: number;
  readonly credentialId: string;
  /** The operation's id, as the OpenAPI document names it; `unknown` where the address names none. */
  readonly operation: string;
  /** `OK`, or the error's code. */
  readonly outcome: string;
  readonly requests: number;
}

export interface UsageReport extends UsageCount {
  readonly organizationId: OrganizationId;
  /** When the credential was last used, by the clock of the node that saw it. */
  readonly lastUsedAt: number;
}

/** Statistics for people: what is granted is counted by `Admissions`, exactly. */
export interface Usages {
  /** Adds to what is there, in one transaction. It survives a killed process, but not always a power cut. */
  addUsage(reports: readonly UsageReport[]): Promise<void>;
  /** Of these days, both included. The cost grows with days and credentials, not with requests. */
  listUsage(organizationId: OrganizationId, firstDay: number, lastDay: number): Promise<UsageCount[]>;
  /** How many requests were taken from the organization's quota on this day, and how many it has. */
  readQuota(
    organizationId: OrganizationId,
    day: number,
  ): Promise<{ used: number; limit: number } | undefined>;
}
