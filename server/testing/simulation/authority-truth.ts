import type { AnyAuthority } from '../../src/domain/authority.ts';
import type { OrganizationId, UserId } from '../../src/domain/id.ts';
import type { MemberRole } from '../../src/domain/organization.ts';
import type { KeyTruth } from './truth.ts';

/** What people may do at this moment: their sessions, and their roles in organizations. */
export class AuthorityTruth {
  readonly #keys: ReadonlyMap<string, KeyTruth>;
  readonly #sessions = new Map<string, UserId>();
  readonly #roles = new Map<string, MemberRole>();

  constructor(keys: ReadonlyMap<string, KeyTruth>) {
    this.#keys = keys;
  }

  startSession(sessionHash: string, userId: UserId): void {
    this.#sessions.set(sessionHash, userId);
  }

  endSession(sessionHash: string): void {
    this.#sessions.delete(sessionHash);
  }

  /** Undefined: the person is no longer a member. */
  setRole(organizationId: OrganizationId, userId: UserId, role: MemberRole | undefined): void {
    const member = `${organizationId} ${userId}`;
    if (role === undefined) this.#roles.delete(member);
    else this.#roles.set(member, role);
  }

  holds(organizationId: OrganizationId, authority: AnyAuthority): boolean {
    switch (authority.kind) {
      case 'key': {
        const key = this.#keys.get(authority.keyHash);
        const isOwn = key?.organizationId === organizationId && key.userId === authority.userId;
        return isOwn && key.live.value;
      }
      case 'session': {
        const { userId, sessionHash } = authority;
        const role = this.#roles.get(`${organizationId} ${userId}`);
        const isSignedIn = this.#sessions.get(sessionHash) === userId;
        return isSignedIn && (role === 'admin' || role === authority.role);
      }
      default:
        return true;
    }
  }
}
