import type { OrganizationId, UserId } from './id.ts';
import type { MemberRole } from './organization.ts';

/** A person who is signed in. */
export interface SessionAuthority {
  readonly kind: 'session';
  readonly userId: UserId;
  /** SHA-256 of the session's token, in hexadecimal. */
  readonly sessionHash: string;
  /** The organization that the session has entered. Null: for the person's own account only. */
  readonly organizationId: OrganizationId | null;
  /** What the write needs. An admin may do what a member may do. */
  readonly role: MemberRole;
}

/** A personal key, which is valid while it is live and the public API is enabled for its organization. */
export interface KeyAuthority {
  readonly kind: 'key';
  readonly userId: UserId;
  /** SHA-256 of the key, in hexadecimal. */
  readonly keyHash: string;
}

/** The operator's command, which may do anything. */
export interface OperatorAuthority {
  readonly kind: 'operator';
  /** The person in whose name the command acts. */
  readonly userId?: UserId;
}

/**
 * On whose behalf a write happens. The store verifies it in the transaction of the write, and holds what it depends on until
 * the commit: a right that is taken away at the same time either ends before the write, which then changes nothing, or
 * after it.
 */
export type Authority = SessionAuthority | KeyAuthority | OperatorAuthority;

/** For writes in a person's name, such as those of their threads. */
export type PersonAuthority = Authority & { readonly userId: UserId };

/** A person who proves who they are to the method itself: with a password, a link or an identity. */
export interface ProofAuthority {
  readonly kind: 'proof';
  readonly userId: UserId;
}

/** Skein itself, in its background work. */
export interface OwnAuthority {
  readonly kind: 'skein';
}

export type AnyAuthority = Authority | ProofAuthority | OwnAuthority;

/** Who did something: a person or service account, the operator's command line, or Skein itself. */
export type Actor =
  | { readonly kind: 'user'; readonly userId: UserId }
  | { readonly kind: 'operator' }
  | { readonly kind: 'skein' };

export function toActor(authority: AnyAuthority): Actor {
  switch (authority.kind) {
    case 'operator':
    case 'skein':
      return { kind: authority.kind };
    default:
      return { kind: 'user', userId: authority.userId };
  }
}

/** The same authority, for a write that only an admin may do. */
export function asAdmin<A extends AnyAuthority>(authority: A): A {
  return authority.kind === 'session' ? { ...authority, role: 'admin' } : authority;
}
