import assert from 'node:assert/strict';
import type { AuditAction } from '../../domain/audit.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import type { MemberRole } from '../../domain/organization.ts';
import type { NewInvitation, NewMember, NewSession, Store } from '../store.ts';
import { note, strangers, type World } from './fixture.ts';

export const day = 86_400_000;

let hashes = 0;
/** As of a token that nobody else has. */
export function freshHash(): string {
  hashes += 1;
  return hashes.toString(16).padStart(64, '0');
}

export function newMember(email: string, change: { role?: MemberRole; service?: boolean } = {}): NewMember {
  return { candidateUserId: strangers.user(), email, role: 'member', service: false, ...change };
}

export function newInvitation(userId: UserId, change: Partial<NewInvitation> = {}): NewInvitation {
  return { tokenHash: freshHash(), userId, keepMs: 7 * day, resets: false, ...change };
}

export function newSession(userId: UserId, change: Partial<NewSession> = {}): NewSession {
  const { passwordHash = null } = change;
  const proof = passwordHash === null ? 'sso' : 'password';
  return { tokenHash: freshHash(), userId, proof, passwordHash, idleMs: day, lifeMs: 30 * day, ...change };
}

/** What people do, in a few words. */
export class Accounting {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  async add(
    organizationId: OrganizationId,
    email: string,
    change: { role?: MemberRole; service?: boolean } = {},
  ): Promise<UserId> {
    const added = await this.#world.store.addMember(
      organizationId,
      newMember(email, change),
      note('member.added'),
    );
    assert.ok(added.outcome === 'added', added.outcome);
    return added.userId;
  }

  /** Answers the hash of the token. */
  async invite(
    organizationId: OrganizationId,
    userId: UserId,
    change: Partial<NewInvitation> = {},
  ): Promise<string> {
    const invitation = newInvitation(userId, change);
    const { store } = this.#world;
    assert.equal(
      await store.createInvitation(organizationId, invitation, note('member.invited', userId)),
      'created',
    );
    return invitation.tokenHash;
  }

  accept(tokenHash: string, passwordHash: string | null, store: Store = this.#world.store) {
    return store.acceptInvitation(tokenHash, { passwordHash }, note('member.joined'));
  }

  /** The person opens the organization, by their first password or by the one they have. */
  async join(organizationId: OrganizationId, userId: UserId, password: string | null): Promise<void> {
    const accepted = await this.accept(await this.invite(organizationId, userId), password);
    assert.deepEqual(accepted, { outcome: 'accepted', userId, organizationId });
  }

  /** By single sign-on, or by a password where its hash is given. Answers the hash of the token. */
  async signIn(userId: UserId, change: Partial<NewSession> = {}): Promise<string> {
    const session = newSession(userId, change);
    const started = note('session.started', userId);
    assert.equal(await this.#world.store.createSession(session, started), 'created');
    return session.tokenHash;
  }

  async isLive(tokenHash: string): Promise<boolean> {
    return (await this.#world.store.findSession(tokenHash, undefined)) !== undefined;
  }

  async enters(tokenHash: string, organizationId: OrganizationId): Promise<boolean> {
    const session = await this.#world.store.findSession(tokenHash, organizationId);
    assert.ok(session, 'the session is live');
    return session.membership !== undefined;
  }

  /** How often this was written down in the organization, of this subject where one is given. */
  async noted(organizationId: OrganizationId, action: AuditAction, subject?: string): Promise<number> {
    const events = await this.#world.store.listAudit(organizationId, { limit: 1000 });
    return events.filter((event) => event.action === action && (subject ?? event.subject) === event.subject)
      .length;
  }
}
