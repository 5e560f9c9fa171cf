import type { Actor, AnyAuthority, Authority } from './authority.ts';

/** On whose behalf a change happens, and the trace ID of the request or command. */
export interface Initiator<A extends AnyAuthority = Authority> {
  readonly authority: A;
  readonly traceId: string;
}

export type AuditAction =
  | `organization.${'created' | 'changed'}`
  | `member.${'added' | 'invited' | 'mail-failed' | 'joined' | 'role-changed' | 'removed'}`
  | `session.${'started' | 'refused' | 'ended' | 'ended-everywhere'}`
  | `password.${'changed' | 'link-requested' | 'voided'}`
  | `key.${'created' | 'requested' | 'approved' | 'declined' | 'revealed' | 'rotated' | 'revoked'}`
  | `application.${'created' | 'rotated' | 'deleted'}`
  | `document.${'added' | 'replaced' | 'removed'}`
  | `thread.${'published' | 'unpublished' | 'deleted' | 'restored'}`
  | 'signing-key.rotated'
  | 'audit.exported'
  | `${'model' | 'question'}.tested`
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
