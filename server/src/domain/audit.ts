import type { UserId } from './id.ts';

/** Who did something: a person or service account, the operator's command line, or Skein itself. */
export type Actor =
  | { readonly kind: 'user'; readonly userId: UserId }
  | { readonly kind: 'operator' }
  | { readonly kind: 'skein' };

/** Who did it, and by which request or command. */
export interface Initiator {
  readonly actor: Actor;
  readonly traceId: string;
}

export const auditActions = [
  'organization.created',
  'organization.changed',
  'member.added',
  'member.invited',
  'member.joined',
  'member.role-changed',
  'member.removed',
  'session.started',
  'session.refused',
  'session.ended-everywhere',
  'password.changed',
  'password.voided',
  'key.created',
  'key.requested',
  'key.approved',
  'key.declined',
  'key.revealed',
  'key.rotated',
  'key.revoked',
  'application.created',
  'application.rotated',
  'application.deleted',
  'document.added',
  'document.replaced',
  'document.removed',
  'thread.published',
  'thread.unpublished',
  'thread.deleted',
  'thread.restored',
  'reply.failed',
] as const;

export type AuditAction = (typeof auditActions)[number];

/** A few words about what was done, for people: names, scopes, counts. Never a secret, never a prompt. */
export type AuditDetail = Readonly<Record<string, string | number | boolean | null>>;

/** What is kept of one deed. */
export interface AuditEvent {
  readonly id: string;
  readonly at: number;
  readonly actor: Actor;
  /** The address of the user who did it, as it is now; null for others. */
  readonly actorEmail: string | null;
  readonly action: AuditAction;
  /** The id of what it was done to. */
  readonly subject: string;
  readonly detail: AuditDetail;
  readonly traceId: string;
}
