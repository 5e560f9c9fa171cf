import type { UserId } from './id.ts';

/** Who did something: a person or service account, the operator's command line, or Skein itself. */
export type Actor =
  | { readonly kind: 'user'; readonly userId: UserId }
  | { readonly kind: 'operator' }
  | { readonly kind: 'skein' };

/** An actor, and the trace ID of the request or command. */
export interface Initiator {
  readonly actor: Actor;
  readonly traceId: string;
  /** Of a change in the console: the SHA-256 of the session's token, in hexadecimal. */
  readonly sessionHash?: string | undefined;
}

export type AuditAction =
  | `organization.${'created' | 'changed'}`
  | `member.${'added' | 'invited' | 'mail-failed' | 'joined' | 'role-changed' | 'removed'}`
  | `session.${'started' | 'refused' | 'ended-everywhere'}`
  | `password.${'changed' | 'link-requested' | 'voided'}`
  | `key.${'created' | 'requested' | 'approved' | 'declined' | 'revealed' | 'rotated' | 'revoked'}`
  | `application.${'created' | 'rotated' | 'deleted'}`
  | `document.${'added' | 'replaced' | 'removed'}`
  | `thread.${'published' | 'unpublished' | 'deleted' | 'restored'}`
  | 'reply.failed';

/** Details for people: names, scopes, counts. Never a secret, never a prompt. */
export type AuditDetail = Readonly<Record<string, string | number | boolean | null>>;

export interface AuditEvent {
  readonly id: string;
  readonly at: number;
  readonly actor: Actor;
  /** The current address of the user; null for other actors. */
  readonly actorEmail: string | null;
  readonly action: AuditAction;
  readonly subject: string;
  /** The current address of the subject if it is a user, otherwise null. */
  readonly subjectEmail: string | null;
  readonly detail: AuditDetail;
  readonly traceId: string;
}
