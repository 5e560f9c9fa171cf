import type { OrganizationId, UserId } from '../domain/id.ts';

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

/** How many prompts may be sent in the console in one period. */
export interface PromptLimit {
  readonly period: 'minute' | 'day';
  readonly startedAt: number;
  readonly personMax: number;
  readonly organizationMax: number;
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
  /**
   * Counts a prompt of the console, for the person first. One above the person's limit does not count for the
   * organization: nobody can use up what their colleagues have. Calls on all nodes are counted one by one. A new period
   * starts from 0.
   */
  countPrompt(
    organizationId: OrganizationId,
    userId: UserId,
    limit: PromptLimit,
  ): Promise<'counted' | 'person-limit' | 'organization-limit'>;
}
