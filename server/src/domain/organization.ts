import type { OrganizationId, UserId } from './id.ts';

export interface Organization {
  readonly id: OrganizationId;
  readonly name: string;
  /** Whether the organization is in the beta: the public interface answers 404 otherwise. */
  readonly apiEnabled: boolean;
  readonly dailyQuota: number;
  readonly createdAt: number;
}

export type MemberRole = 'admin' | 'member';

export interface Member {
  readonly userId: UserId;
  readonly email: string;
  readonly role: MemberRole;
  /** An account for automation: it owns keys and threads, and cannot sign in. */
  readonly service: boolean;
  readonly joinedAt: number;
  /** Whether they have accepted an invitation of this organization, and so can sign in to it by password. */
  readonly opened: boolean;
  /** Until when an invitation of theirs can be used; null where there is none. */
  readonly invitedUntil: number | null;
}

/**
 * One spelling per address, so that `Ada@x` and `ada@x` are the same person. The Kelvin sign is no spelling of anything:
 * it is the one letter outside of ASCII whose lower case is in it, and `\u212Aim@x` is not the address of `kim@x`.
 */
export function normalizeEmail(text: string): string | undefined {
  const email = text.trim().toLowerCase();
  const isAddress = email.length <= 254 && /^[^\s@]+@[^\s@]+$/.test(email);
  return isAddress && !text.includes('\u212A') ? email : undefined;
}
