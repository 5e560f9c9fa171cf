import { counted } from '../../../../runtime/src/pure/text.ts';
import { closesOtherMemberships } from '../../domain/account.ts';
import type { AuditAction, Initiator } from '../../domain/audit.ts';
import type { Authority, OwnAuthority } from '../../domain/authority.ts';
import { type ApiKey, isLive, randomText } from '../../domain/credential.ts';
import { invalid, notFound, organizationNotFound, rateLimited, ServiceError } from '../../domain/errors.ts';
import type { UserId } from '../../domain/id.ts';
import { deviceCounter, mailCounters } from '../../domain/mail.ts';
import { type Member, type MemberRole, normalizeEmail } from '../../domain/organization.ts';
import type { Log } from '../../domain/telemetry.ts';
import { dayMs, secondsUntilReset } from '../../domain/time.ts';
import type { Membership, NewInvitation, NewMember } from '../../storage/port/store.ts';
import { authorize } from '../authorize.ts';
import type { Context, LinkRequest, OrganizationCall } from '../context.ts';
import { auditNote, type Change, withCommand } from '../organization/audit-log.ts';
import { limitMails, sealLink } from './mails.ts';
import { otherMemberships } from './sessions.ts';

export interface AddedMember {
  readonly userId: UserId;
  /** Null for a service account, and for a person who can only join through the provider of single sign-on. */
  readonly invitation: IssuedInvitation | null;
}

/** Adds and invites a person, who keeps any password from another organization, or adds a service account. */
export async function addMember(
  change: Change,
  added: { email: string; role?: MemberRole | undefined; service?: boolean },
): Promise<AddedMember> {
  const { email, role = 'member', service = false } = added;
  const { context, organizationId, initiator } = change;
  const address = normalizeEmail(email);
  if (address === undefined) throw invalid(`${email} is not an email address.`);
  const { store, ids } = context;
  const candidateUserId = ids.user();
  const detail = { email: address, role, service };
  const note = auditNote(change, 'member.added', candidateUserId, detail);
  // Otherwise an admin could read the threads of a former member: with a key, as a service account, or through their link.
  const isSeen = service || context.mailer === undefined;
  const withoutThreads = isSeen && initiator.authority.kind !== 'operator';
  const membersMax = context.limits.organizationMembersMax;
  const member = { candidateUserId, ...detail, membersMax, withoutThreads };
  if (!service) {
    // Checked first, so that a rejected invitation does not count as an email of the day.
    const known = await store.findMember(organizationId, address);
    if (known !== undefined) throw alreadyMember(change, known);
    if ((await store.countMembers(organizationId)) >= membersMax) throw tooManyMembers(membersMax);
    await limitMails(change, address);
  }
  const add = (added: NewMember) =>
    authorize(context, initiator.authority, store.addMember(organizationId, added, note));
  let result = await add(member);
  // No admin controls the provider, so the person can join through it. They get no link, which the admin would see.
  const needsProvider =
    result.outcome === 'has-threads' && !service && context.identityProvider !== undefined;
  if (needsProvider) {
    result = await add({ ...member, withoutThreads: false });
  }
  switch (result.outcome) {
    case 'added': {
      const { userId } = result;
      const getsLink = !service && !needsProvider;
      return { userId, invitation: getsLink ? await issueInvitation(change, userId, {}) : null };
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

/** Takes effect with the member's next request. */
export async function changeMemberRole(change: Change, userId: string, role: MemberRole): Promise<void> {
  const { context, organizationId } = change;
  const member = await findMemberById(change, userId);
  const detail = { email: member.email, role };
  const note = auditNote(change, 'member.role-changed', member.userId, detail);
  const write = context.store.setMemberRole(organizationId, member.userId, role, note);
  const outcome = await authorize(context, note.authority, write);
  if (outcome === 'missing') throw noSuchMember(change, member.email);
  if (outcome === 'last-admin') throw lastAdmin();
}

/** Revokes their personal keys in the same commit; threads stay (§5.8). Only the operator may remove the last admin. */
export async function removeMember(change: Change, { userId, email }: Pick<Member, 'userId' | 'email'>) {
  const { context, organizationId, initiator } = change;
  const note = auditNote(change, 'member.removed', userId, { email });
  const keepAdmin = initiator.authority.kind !== 'operator';
  const write = context.store.removeMember(organizationId, email, keepAdmin, note);
  const result = await authorize(context, note.authority, write);
  if (result.outcome === 'removed') return { keysRevoked: result.keysRevoked };
  throw result.outcome === 'missing' ? noSuchMember(change, email) : lastAdmin();
}

export async function findMember(change: Change, email: string): Promise<Member> {
  const { context, organizationId } = change;
  const member = await context.store.findMember(organizationId, normalizeEmail(email) ?? email);
  if (member === undefined) throw noSuchMember(change, email);
  return member;
}

export async function findMemberById(call: OrganizationCall, userId: string): Promise<Member> {
  const member = await call.context.store.findMemberById(call.organizationId, userId as UserId);
  if (member === undefined) throw notFound(`${userId} is not a member of the organization.`);
  return member;
}

interface ListedMember extends Member {
  /** `invited`: the link has not been used yet. `expired`: there is no link that can be used. Service accounts are `active`. */
  readonly state: 'active' | 'invited' | 'expired';
  /** Live personal keys: removing the member revokes them. */
  readonly keys: readonly ApiKey[];
}

export async function listMembers({ context, organizationId }: OrganizationCall): Promise<ListedMember[]> {
  const { store, now } = context;
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
    state: stateOf(member, now()),
    keys: live.get(member.userId) ?? [],
  }));
}

function stateOf({ service, opened, invitedUntil }: Member, now: number): ListedMember['state'] {
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

export interface IssuedInvitation {
  /** Null if it is mailed and the operator did not ask for it: an admin could join in place of the person. */
  readonly link: string | null;
  readonly mailed: boolean;
  readonly expiresAt: number;
  /** Memberships of other organizations that close when the link is used. */
  readonly closes?: readonly Membership[];
}

const invitationMs = 7 * dayMs;
const passwordLinkMs = 30 * 60 * 1000;

/**
 * Creates a link with which a person joins the organization, once, and emails it if a mail server is configured. A link from
 * the operator proves the address. For a person who has joined, it replaces a proven password, which gives the whole account
 * to the holder of the link: only the operator may create such a link, and the person may have one sent to their address.
 */
export async function inviteMember(change: Change, userId: UserId): Promise<IssuedInvitation> {
  const { context, initiator } = change;
  const { email, opened } = await findMemberById(change, userId);
  const byOperator = initiator.authority.kind === 'operator';
  // A person who has joined needs no link, and only a link with `resets` could change their password.
  if (opened && !byOperator) {
    throw invalid(
      `${email} has already joined. The operator of this service can create a link to reset their password.`,
    );
  }
  await limitMails(change, email);
  // With a password and no membership, they could not have it reset in another way.
  const isLockedOut = async () => (await findPasswordHolder(context, email))?.entered.length === 0;
  const resets = byOperator && (opened || (await isLockedOut()));
  const closes = closesOtherMemberships({ resets, byOperator })
    ? await otherMemberships(context, change.organizationId, userId)
    : [];
  return { ...(await issueInvitation(change, userId, { resets })), closes };
}

async function findPasswordHolder({ store }: Context, email: string) {
  const person = await store.findPerson(email);
  if (person === undefined || person.passwords.length === 0) return undefined;
  const { userId } = person;
  return { userId, ...(await store.listMemberships(userId, { proof: 'sso' })) };
}

/** Bounds memory and work in a flood: further requests are dropped. */
const linkRequestsMax = 1_000;

/** The link is created outside of the request, so that timing does not reveal which addresses exist. */
export async function requestPasswordLink(
  { store, linkRequests }: Context,
  { email, device, traceId }: LinkRequest,
): Promise<void> {
  await store.ping();
  if (linkRequests.size >= linkRequestsMax) return;
  const address = normalizeEmail(email) ?? '';
  // Apart from those of strangers, which would otherwise replace the request of a known device.
  const key = device === undefined ? address : `${address} ${device.id}`;
  linkRequests.set(key, { email: address, device, traceId });
}

/** Sends the links that were requested since the last call. If the store fails, the next call continues. */
export async function sendPasswordLinks(context: Context, log: Log): Promise<void> {
  const { linkRequests } = context;
  for (const [key, request] of linkRequests) {
    linkRequests.delete(key);
    try {
      await sendPasswordLink(context, request);
    } catch (error) {
      if (!(error instanceof ServiceError)) {
        // At the end, so that the next call tries the others first.
        linkRequests.set(key, request);
        throw error;
      }
      log.warn({ trace_id: request.traceId, reason: error.message }, 'password link not sent');
    }
  }
}

/**
 * Sends a link to choose a new password to a person who can sign in with one. A link of the operator, and one that was
 * mailed in the last half hour, stay valid: otherwise anyone could keep another person's links from working. For the same
 * reason, a known device of the person has its own limit.
 */
async function sendPasswordLink(context: Context, { email, device, traceId }: LinkRequest): Promise<void> {
  const { sha256, limits } = context;
  const person = await findPasswordHolder(context, email);
  const [organization] = person?.entered ?? [];
  if (person === undefined || organization === undefined) return;
  const { organizationId } = organization;
  const change = { context, organizationId, initiator: { authority: { kind: 'skein' }, traceId } } as const;
  const counters = mailCounters(email, sha256);
  const isKnown = device?.userId === person.userId;
  const counter = isKnown ? deviceCounter(counters, device.id) : counters.passwordLinks;
  const requested = { person: counter, personMax: limits.mailsPerPerson };
  const action = 'password.link-requested';
  await issueInvitation(change, person.userId, { resets: true, keepMs: passwordLinkMs, action, requested });
}

async function issueInvitation(
  change: OrganizationCall & { readonly initiator: Initiator<Authority | OwnAuthority> },
  userId: UserId,
  options: Partial<Pick<NewInvitation, 'resets' | 'keepMs' | 'requested'>> & { action?: AuditAction },
): Promise<IssuedInvitation> {
  const { resets = false, keepMs = invitationMs, action = 'member.invited', ...request } = options;
  const { context, organizationId, initiator } = change;
  const { store, now, randomBytes, sha256, baseUrl, mailer } = context;
  const byOperator = initiator.authority.kind === 'operator';
  // 32 characters of base 62 have 190 bits: they cannot be guessed, and a fast hash is enough to protect them.
  const token = `inv_${randomText(randomBytes, 32)}`;
  const tokenHash = sha256(token);
  // Browsers do not send the fragment: the token never appears in a log.
  const link = `${baseUrl()}/invitation#${token}`;
  const mailed = mailer !== undefined;
  const sealedLink = mailed ? sealLink(context, tokenHash, link) : null;
  const expiresAt = now() + keepMs;
  const note = auditNote(change, action, userId, { resets, ...(mailed && { mailed }) });
  const invitation = { tokenHash, userId, keepMs, byOperator, resets, sealedLink, ...request };
  const write = store.createInvitation(organizationId, invitation, note);
  const outcome = await authorize(context, initiator.authority, write);
  switch (outcome) {
    case 'created':
      return { link: mailed && !byOperator ? null : link, mailed, expiresAt };
    case 'not-a-member':
      throw notFound('No such member.');
    case 'service-account':
      throw invalid('A service account cannot sign in. Create a key for it instead.');
    case 'operator-only':
      throw invalid(
        `This person already has threads or an API key here, so with their link you could read their threads. Ask the operator of this service to create it${context.identityProvider === undefined ? '' : ', or let them join through single sign-on'}.`,
      );
    case 'live':
      throw invalid('A link that was sent earlier is still valid.');
    case 'person-limit':
      throw rateLimited(
        'This person has reached the daily limit of password links.',
        secondsUntilReset(now()),
      );
  }
}
