import type { UserId } from './id.ts';

/** Who did something: a person or service account, the operator's command line, or Skein itself. */
export type Actor =
  | { readonly kind: 'user'; readonly userId: UserId }
  | { readonly kind: 'operator' }
  | { readonly kind: 'skein' };

/** An actor, and the trace id of the request or command. */
export interface Initiator {
  readonly actor: Actor;
  readonly traceId: string;
}

export type AuditAction =
  | 'organization.created'
  | 'organization.changed'
  | 'member.added'
  | 'member.invited'
  | 'member.mail-failed'
  | 'member.joined'
  | 'member.role-changed'
  | 'member.removed'
  | 'session.started'
  | 'session.refused'
  | 'session.ended-everywhere'
  | 'password.changed'
  | 'password.link-requested'
  | 'password.voided'
  | 'key.created'
  | 'key.requested'
  | 'key.approved'
  | 'key.declined'
  | 'key.revealed'
  | 'key.rotated'
  | 'key.revoked'
  | 'application.created'
  | 'application.rotated'
  | 'application.deleted'
  | 'document.added'
  | 'document.replaced'
  | 'document.removed'
  | 'thread.published'
  | 'thread.unpublished'
  | 'thread.deleted'
  | 'thread.restored'
  | 'reply.failed';

/** Details for people: names, scopes, counts. Never a secret, never a prompt. */
export type AuditDetail = Readonly<Record<string, string | number | boolean | null>>;

/** One entry of the audit log. */
export interface AuditEvent {
  readonly id: string;
  readonly at: number;
  readonly actor: Actor;
  /** The current address of the user; null for other actors. */
  readonly actorEmail: string | null;
  readonly action: AuditAction;
  /** The id of the object that was changed. */
  readonly subject: string;
  /** The current address of the subject if it is a user, otherwise null. */
  readonly subjectEmail: string | null;
  readonly detail: AuditDetail;
  readonly traceId: string;
}
