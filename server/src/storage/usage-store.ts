import type { OrganizationId, UserId } from '../domain/id.ts';

/** The number of requests of one UTC day with the same credential, operation and outcome. */
export interface UsageCount {
  readonly day: number;
  readonly credentialId: string;
  /** The operation's id in the OpenAPI document; `unknown` if the address matches none. */
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

/** How many prompts may be sent in the console in one period. */
export interface PromptLimit {
  readonly period: 'minute' | 'day';
  readonly startedAt: number;
  readonly personMax: number;
  readonly organizationMax: number;
}

/** Statistics. `Admissions` enforces quotas. */
export interface Usages {
  /** Adds to the counts in one transaction. It survives a killed process, but not always a power cut. */
  addUsage(reports: readonly UsageReport[]): Promise<void>;
  /** Of these days, both included. The cost grows with days and credentials, not with requests. */
  listUsage(organizationId: OrganizationId, firstDay: number, lastDay: number): Promise<UsageCount[]>;
  /** How many requests were counted against the organization's quota on this day, and the quota. */
  readQuota(
    organizationId: OrganizationId,
    day: number,
  ): Promise<{ used: number; limit: number } | undefined>;
  /**
   * Counts a prompt of the console, first for the person. A prompt above the person's limit does not count for the
   * organization, so that one person cannot use up its limit. The counts are exact over all nodes. A new period starts
   * from 0.
   */
  countPrompt(
    organizationId: OrganizationId,
    userId: UserId,
    limit: PromptLimit,
  ): Promise<'counted' | 'person-limit' | 'organization-limit'>;
}
