import type { OrganizationId, UserId } from './id.ts';

export interface Organization {
  readonly id: OrganizationId;
  readonly name: string;
  /** Whether the public API is enabled for the organization. If not, it answers 404. */
  readonly apiEnabled: boolean;
  readonly dailyQuota: number;
  readonly createdAt: number;
}

export interface QuotaUse {
  readonly granted: boolean;
  readonly limit: number;
  readonly remaining: number;
}

/** The state after request `number` of the day, counted from 1. */
export function quotaUse(limit: number, number: number): QuotaUse {
  return { granted: number <= limit, limit, remaining: Math.max(0, limit - number) };
}

/** Shown in place of the address of a user who is no longer a member. */
export const formerMember = 'Former member';

export const memberRoles = ['admin', 'member'] as const;
export type MemberRole = (typeof memberRoles)[number];

export interface Member {
  readonly userId: UserId;
  readonly email: string;
  readonly role: MemberRole;
  /** An account for automation: it owns keys and threads, and cannot sign in. */
  readonly service: boolean;
  readonly joinedAt: number;
  /** Whether they have accepted this organization's invitation and can sign in to it by password. */
  readonly opened: boolean;
  readonly invitedUntil: number | null;
  /** The state of their invitation's email; null if the invitation is not sent by email. */
  readonly mailState: 'waiting' | 'sent' | 'failed' | null;
}

/**
 * One spelling per address, so that `Ada@x` and `ada@x` are the same person. Undefined if the text is not an address.
 * Rejects U+212A (Kelvin sign): it is the only non-ASCII character whose lower case is ASCII, so `\u212Aim@x` would
 * become `kim@x`, an address of somebody else. For the same reason it rejects domains with letters or dots that mail
 * programs replace, such as full-width ones.
 */
export function normalizeEmail(text: string): string | undefined {
  const email = text.trim().toLowerCase();
  const isAddress = email.length <= 254 && /^[^\s\p{C}@]+@[^\s\p{C}@]+$/u.test(email);
  const domain = email.split('@').at(-1)!;
  const hasOneSpelling = domain === domain.normalize('NFKC') && !/[\u3002\uff61]/.test(domain);
  return isAddress && hasOneSpelling && !text.includes('\u212A') ? email : undefined;
}

export type MemberFacts = Pick<Member, 'userId' | 'role' | 'service' | 'opened'>;

/** Service accounts do not count, and an admin who has joined can only be replaced by another who has joined. */
export function isLastAdmin(member: MemberFacts, all: readonly MemberFacts[]): boolean {
  if (member.role !== 'admin' || member.service) return false;
  return !all.some(
    ({ userId, role, service, opened }) =>
      userId !== member.userId && role === 'admin' && !service && (opened || !member.opened),
  );
}
