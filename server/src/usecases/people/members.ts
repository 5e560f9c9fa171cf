import { counted } from '../../../../runtime/src/pure/text.ts';
import { closesOtherMemberships } from '../../domain/account.ts';
import { type ApiKey, isLive } from '../../domain/credential.ts';
import { invalid, notFound, organizationNotFound, type ServiceError } from '../../domain/errors.ts';
import type { IdGenerator, OrganizationId, UserId } from '../../domain/id.ts';
import type { Limits } from '../../domain/limits.ts';
import { type Member, type MemberRole, normalizeEmail } from '../../domain/organization.ts';
import type { NewMember, Store } from '../../storage/port/store.ts';
import { auditNote, type Change, withCommand } from '../audit-note.ts';
import type { Authorize } from '../authorize.ts';
import type { IssuedInvitation, IssueInvitation } from './invitations.ts';
import type { LimitMails } from './mails.ts';
import { findPasswordHolder } from './password-links.ts';
import type { Sessions } from './sessions.ts';

export interface AddedMember {
  readonly userId: UserId;
  /** Null for a service account, and for a person who can only join through the provider of single sign-on. */
  readonly invitation: IssuedInvitation | null;
}

interface MemberNeeds {
  readonly store: Pick<
    Store,
    | 'addMember'
    | 'removeMember'
    | 'findMember'
    | 'findMemberById'
    | 'countMembers'
    | 'listMembers'
    | 'setMemberRole'
    | 'listApiKeys'
    | 'findPerson'
    | 'listMemberships'
  >;
  readonly ids: Pick<IdGenerator, 'event' | 'user'>;
  readonly now: () => number;
  readonly limits: Pick<Limits, 'organizationMembersMax'>;
  /** Whether a mail server is configured. */
  readonly sendsMail: boolean;
  /** Whether people can sign in through a provider. */
  readonly hasProvider: boolean;
  readonly sessions: Pick<Sessions, 'otherMemberships'>;
  readonly authorize: Authorize;
  readonly limitMails: LimitMails;
  readonly issueInvitation: IssueInvitation;
}

export type Members = ReturnType<typeof createMembers>;

export function createMembers(needs: MemberNeeds) {
  const { store, ids, now, limits, authorize, limitMails, issueInvitation } = needs;
  return { sendsMail: needs.sendsMail, add, invite, changeRole, remove, find, findById, list };

  /** Adds and invites a person, who keeps any password from another organization, or adds a service account. */
  async function add(
    change: Change,
    added: { email: string; role?: MemberRole | undefined; service?: boolean },
  ): Promise<AddedMember> {
    const { email, role = 'member', service = false } = added;
    const { organizationId, initiator } = change;
    const address = normalizeEmail(email);
    if (address === undefined) throw invalid(`${email} is not an email address.`);
    const candidateUserId = ids.user();
    const detail = { email: address, role, service };
    const note = auditNote(ids, initiator, 'member.added', candidateUserId, detail);
    // Otherwise an admin could read the threads of a former member: with a key, as a service account, or through their link.
    const isSeen = service || !needs.sendsMail;
    const withoutThreads = isSeen && initiator.authority.kind !== 'operator';
    const membersMax = limits.organizationMembersMax;
    const member = { candidateUserId, ...detail, membersMax, withoutThreads };
    if (!service) {
      // Checked first, so that a rejected invitation does not count as an email of the day.
      const known = await store.findMember(organizationId, address);
      if (known !== undefined) throw alreadyMember(change, known);
      if ((await store.countMembers(organizationId)) >= membersMax) throw tooManyMembers(membersMax);
      await limitMails(change, address);
    }
    const write = (added: NewMember) =>
      authorize(initiator.authority, store.addMember(organizationId, added, note));
    let result = await write(member);
    // No admin controls the provider, so the person can join through it. They get no link, which the admin would see.
    const needsProvider = result.outcome === 'has-threads' && !service && needs.hasProvider;
    if (needsProvider) {
      result = await write({ ...member, withoutThreads: false });
    }
    switch (result.outcome) {
      case 'added': {
        const { userId } = result;
        const getsLink = !service && !needsProvider;
        return { userId, invitation: getsLink ? await issueInvitation(change, userId) : null };
      }
      case 'already-member':
        throw alreadyMember(change, { email: address, service, opened: true });
      case 'has-threads':
        throw invalid(
          `${address} has threads here from an earlier membership. ${service ? 'Use another address for the service account' : 'Ask the operator of this service to add them'}.`,
        );
      case 'organization-missing':
        throw organizationNotFound();
      case 'too-many':
        throw tooManyMembers(membersMax);
    }
  }

  /**
   * Creates a link with which a person joins the organization, once, and emails it if a mail server is configured. A link from
   * the operator proves the address. For a person who has joined, it replaces a proven password, which gives the whole account
   * to the holder of the link: only the operator may create such a link, and the person may have one sent to their address.
   */
  async function invite(change: Change, userId: UserId): Promise<IssuedInvitation> {
    const { organizationId, initiator } = change;
    const { email, opened } = await findById(organizationId, userId);
    const byOperator = initiator.authority.kind === 'operator';
    // A person who has joined needs no link, and only a link with `resets` could change their password.
    if (opened && !byOperator) {
      throw invalid(
        `${email} has already joined. The operator of this service can create a link to reset their password.`,
      );
    }
    await limitMails(change, email);
    // With a password and no membership, they could not have it reset in another way.
    const isLockedOut = async () => (await findPasswordHolder(store, email))?.entered.length === 0;
    const resets = byOperator && (opened || (await isLockedOut()));
    const closes = closesOtherMemberships({ resets, byOperator })
      ? await needs.sessions.otherMemberships(organizationId, userId)
      : [];
    return { ...(await issueInvitation(change, userId, { resets })), closes };
  }

  /** Takes effect with the member's next request. */
  async function changeRole(change: Change, userId: string, role: MemberRole): Promise<void> {
    const { organizationId, initiator } = change;
    const member = await findById(organizationId, userId);
    const detail = { email: member.email, role };
    const note = auditNote(ids, initiator, 'member.role-changed', member.userId, detail);
    const write = store.setMemberRole(organizationId, member.userId, role, note);
    const outcome = await authorize(note.authority, write);
    if (outcome === 'missing') throw noSuchMember(change, member.email);
    if (outcome === 'last-admin') throw lastAdmin();
  }

  /** Revokes their personal keys in the same commit; threads stay (§5.8). Only the operator may remove the last admin. */
  async function remove(change: Change, { userId, email }: Pick<Member, 'userId' | 'email'>) {
    const { organizationId, initiator } = change;
    const note = auditNote(ids, initiator, 'member.removed', userId, { email });
    const keepAdmin = initiator.authority.kind !== 'operator';
    const write = store.removeMember(organizationId, email, keepAdmin, note);
    const result = await authorize(note.authority, write);
    if (result.outcome === 'removed') return { keysRevoked: result.keysRevoked };
    throw result.outcome === 'missing' ? noSuchMember(change, email) : lastAdmin();
  }

  async function find(change: Change, email: string): Promise<Member> {
    const { organizationId } = change;
    const member = await store.findMember(organizationId, normalizeEmail(email) ?? email);
    if (member === undefined) throw noSuchMember(change, email);
    return member;
  }

  async function findById(organizationId: OrganizationId, userId: string): Promise<Member> {
    const member = await store.findMemberById(organizationId, userId as UserId);
    if (member === undefined) throw notFound(`${userId} is not a member of the organization.`);
    return member;
  }

  async function list(organizationId: OrganizationId): Promise<ListedMember[]> {
    const [members, keys] = await Promise.all([
      store.listMembers(organizationId),
      store.listApiKeys(organizationId),
    ]);
    const live = Map.groupBy(
      keys.filter((key) => isLive(key, now())),
      ({ userId }) => userId,
    );
    return members.map((member) => ({
      ...member,
      state: deriveState(member, now()),
      keys: live.get(member.userId) ?? [],
    }));
  }
}

function alreadyMember(
  { organizationId, initiator }: Change,
  { email, service, opened }: Pick<Member, 'email' | 'service' | 'opened'>,
): ServiceError {
  const fact = `${email} is already a member`;
  if (service || opened) return invalid(`${fact}.`);
  return invalid(
    withCommand(initiator, fact, `'skein member invite ${organizationId} ${email}' creates a new link`),
  );
}

function tooManyMembers(max: number): ServiceError {
  return invalid(
    `The organization has reached the limit of ${counted(max, 'member')}. Remove some, or ask the operator to raise the limit.`,
  );
}

interface ListedMember extends Member {
  /** `invited`: the link has not been used yet. `expired`: there is no link that can be used. Service accounts are `active`. */
  readonly state: 'active' | 'invited' | 'expired';
  /** Live personal keys: removing the member revokes them. */
  readonly keys: readonly ApiKey[];
}

function deriveState({ service, opened, invitedUntil }: Member, now: number): ListedMember['state'] {
  if (service || opened) return 'active';
  return invitedUntil !== null && invitedUntil > now ? 'invited' : 'expired';
}

function noSuchMember({ organizationId, initiator }: Change, email: string): ServiceError {
  const command = `run 'skein member list ${organizationId}' to see who is`;
  return notFound(withCommand(initiator, `${email} is not a member`, command));
}

function lastAdmin(): ServiceError {
  return invalid('An organization needs at least one admin. Make another member an admin first.');
}
