import assert from 'node:assert/strict';
import type { Acceptance } from '../../src/domain/account.ts';
import type { AuditAction } from '../../src/domain/audit.ts';
import type { ProofAuthority, SessionAuthority } from '../../src/domain/authority.ts';
import type { OrganizationId, PasswordId, UserId } from '../../src/domain/id.ts';
import type { MemberRole } from '../../src/domain/organization.ts';
import { dayMs } from '../../src/domain/time.ts';
import type {
  Membership,
  NewInvitation,
  NewMember,
  NewSession,
  Store,
} from '../../src/storage/port/store.ts';
import { granted, note, strangers, type World } from './fixture.ts';

export const day = dayMs;
export const email = 'ada@example.org';

/** A person who is a member of one organization. */
export async function oneMembership(world: World) {
  const people = new Accounting(world);
  const organization = await world.organization();
  const userId = await people.add(organization, email);
  return { store: world.store, clock: world.clock, people, organization, userId };
}

/** A person who is a member of two organizations. */
export async function twoMemberships(world: World) {
  const { organization: one, ...rest } = await oneMembership(world);
  const other = await world.organization();
  await rest.people.add(other, email);
  return { ...rest, one, other };
}

let hashes = 0;
/** The hash of a unique token. */
export function freshHash(): string {
  hashes += 1;
  return hashes.toString(16).padStart(64, '0');
}

export function newMember(email: string, change: Partial<NewMember> = {}): NewMember {
  return {
    candidateUserId: strangers.user(),
    email,
    role: 'member',
    service: false,
    membersMax: 10,
    ...change,
  };
}

export function newInvitation(userId: UserId, change: Partial<NewInvitation> = {}): NewInvitation {
  const { resets = false } = change;
  const defaults = { tokenHash: freshHash(), keepMs: 7 * day, byOperator: resets, sealedLink: null };
  return { userId, resets, ...defaults, ...change };
}

export function newSession(userId: UserId, change: Partial<NewSession> = {}): NewSession {
  return { tokenHash: freshHash(), userId, passwordHash: null, idleMs: day, lifeMs: 30 * day, ...change };
}

/** The authority of a session in the organization or, without one, for the person's own account. */
export function bySession(
  userId: UserId,
  sessionHash: string,
  organizationId: OrganizationId | null = null,
  role: MemberRole = 'member',
): SessionAuthority {
  return { kind: 'session', userId, sessionHash, organizationId, role };
}

/** The store only writes down who it was. */
export function proof(userId: UserId = strangers.user()): ProofAuthority {
  return { kind: 'proof', userId };
}

/** Short forms of what people do in the tests. */
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
    const member = newMember(email, change);
    const added = granted(await this.#world.store.addMember(organizationId, member, note('member.added')));
    assert.ok(added.outcome === 'added', added.outcome);
    return added.userId;
  }

  /** Returns the hash of the token. */
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

  /** Accepts with a new password, or with one that the person already has. */
  accept(tokenHash: string, password: string | { proven: string }, store: Store = this.#world.store) {
    const acceptance: Acceptance =
      typeof password === 'string'
        ? { kind: 'chosen', password: { id: `pwd_${freshHash()}` as PasswordId, hash: password } }
        : { kind: 'proven', hash: password.proven };
    const change = { authority: proof() };
    const accepted = note('member.joined', undefined, change);
    const closed = note('password.voided', undefined, change);
    return store.acceptInvitation(tokenHash, acceptance, { accepted, closed });
  }

  /** The person accepts a membership through a link of its organization, or of the operator. */
  async join(
    organizationId: OrganizationId,
    userId: UserId,
    password: string | { proven: string },
    change: Partial<NewInvitation> = {},
  ): Promise<void> {
    const accepted = await this.accept(await this.invite(organizationId, userId, change), password);
    assert.equal(accepted, 'accepted');
  }

  /** Signs in through a provider and returns the person. */
  bind(email: string, subject = `subject of ${email}`, issuer = 'https://login.example', store?: Store) {
    const { id, traceId, action, detail } = note('password.voided');
    return (store ?? this.#world.store).bindIdentity(issuer, subject, email, { id, traceId, action, detail });
  }

  async acceptBySso(organizationId: OrganizationId, userId: UserId): Promise<void> {
    const { store } = this.#world;
    const session = await this.signIn(userId);
    const joined = note('member.joined', userId, { authority: bySession(userId, session) });
    assert.equal(await store.acceptMembership(organizationId, joined), 'accepted');
    await store.endSession(session);
  }

  /** The person accepts the membership and signs in, both through single sign-on. */
  async enter(organizationId: OrganizationId, userId: UserId): Promise<SessionAuthority> {
    await this.acceptBySso(organizationId, userId);
    return bySession(userId, await this.signIn(userId), organizationId);
  }

  /** Keeps the session, by default a new one that was started through single sign-on. */
  async changePassword(
    userId: UserId,
    current: string,
    next: string,
    session?: string,
    store: Store = this.#world.store,
  ) {
    const authority = bySession(userId, session ?? (await this.signIn(userId)));
    const changed = note('password.changed', userId, { authority });
    return store.changePassword({ current, next }, changed);
  }

  async hashes(email: string): Promise<readonly string[] | undefined> {
    return (await this.#world.store.findPerson(email))?.passwords.map(({ hash }) => hash);
  }

  /** The organizations that a session may enter, and those that it may accept. */
  async standing(tokenHash: string) {
    const session = await this.#world.store.findSession(tokenHash, undefined);
    assert.ok(session, 'the session is live');
    const { entered, pending } = await this.#world.store.listMemberships(session.userId, session.access);
    const ids = (memberships: readonly Membership[]) =>
      memberships.map(({ organizationId }) => organizationId).toSorted();
    return { entered: ids(entered), pending: ids(pending) };
  }

  /** Signs in by single sign-on, or by password if its hash is given. Returns the hash of the token. */
  async signIn(userId: UserId, change: Partial<NewSession> = {}): Promise<string> {
    const session = newSession(userId, change);
    const started = note('session.started', userId, { authority: proof(userId) });
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

  /** How many audit events the organization has with this action and, if given, this subject. */
  async noted(organizationId: OrganizationId, action: AuditAction, subject?: string): Promise<number> {
    const events = (await this.#world.store.listAudit(organizationId, { limit: 1000 })).events;
    return events.filter((event) => event.action === action && (subject ?? event.subject) === event.subject)
      .length;
  }
}
