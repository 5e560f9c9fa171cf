import { type Acceptance, closesOtherMemberships } from '../../domain/account.ts';
import { invalid, notFound, type ServiceError } from '../../domain/errors.ts';
import { type IdGenerator, isOrganizationId } from '../../domain/id.ts';
import { passwordFault } from '../../domain/sign-in.ts';
import type { Invitation, Store } from '../../storage/port/store.ts';
import { auditNote } from '../audit-note.ts';
import type { Authorize } from '../authorize.ts';
import type { PasswordAttempts, Visitor } from './password-attempts.ts';
import { listHashes, type Passwords } from './passwords.ts';
import type { Sessions, SignedInCall, StartedSession } from './sessions.ts';

interface AcceptanceNeeds {
  readonly store: Pick<Store, 'findInvitation' | 'acceptInvitation' | 'acceptMembership'>;
  readonly ids: Pick<IdGenerator, 'event' | 'password'>;
  readonly sha256: (text: string) => string;
  /** By the IP address of the caller. */
  readonly passwords: (address: string) => Passwords;
  readonly attempts: Pick<PasswordAttempts, 'attempt'>;
  readonly sessions: Pick<Sessions, 'start' | 'otherMemberships'>;
  readonly authorize: Authorize;
}

export type InvitationAcceptance = ReturnType<typeof createInvitationAcceptance>;

/** What a person does with a link that invites them. */
export function createInvitationAcceptance(needs: AcceptanceNeeds) {
  const { store, ids, sha256, attempts, sessions, authorize } = needs;
  return { read, listEnded, accept, acceptMembership };

  /** `NOT_FOUND` for every invitation that cannot be used: unknown, used, replaced or expired. */
  async function read(visitor: Visitor, token: string): Promise<Invitation> {
    const invitation = await attempts.attempt(visitor, {}, async () =>
      /^inv_[\w-]{32}$/.test(token) ? store.findInvitation(sha256(token)) : undefined,
    );
    if (invitation === undefined) throw gone();
    return invitation;
  }

  /** What using the link ends: other memberships, by their number, and API keys. */
  async function listEnded(invitation: Invitation): Promise<{ memberships: number; keys: boolean }> {
    const { organizationId, userId, resets, passwords } = invitation;
    const closes = closesOtherMemberships(invitation);
    return {
      memberships: closes ? (await sessions.otherMemberships(organizationId, userId)).length : 0,
      keys: resets && passwords.some(({ proven }) => !proven),
    };
  }

  async function accept(
    visitor: Visitor,
    { token, password }: { token: string; password: string },
  ): Promise<StartedSession> {
    const invitation = await read(visitor, token);
    const { userId, email, resets } = invitation;
    const acceptance = await planAcceptance(visitor, invitation, password);
    const initiator = { authority: { kind: 'proof', userId }, traceId: visitor.traceId } as const;
    const detail = { email, password: acceptance.kind };
    const notes = {
      accepted: auditNote(ids, initiator, resets ? 'password.changed' : 'member.joined', userId, detail),
      closed: auditNote(ids, initiator, 'password.voided', userId),
    };
    const outcome = await store.acceptInvitation(sha256(token), acceptance, notes);
    if (outcome === 'refused') {
      throw invalid('The invitation has changed since you opened the link. Open the link again.');
    }
    if (outcome === 'missing') throw gone();
    const passwordHash = acceptance.kind === 'proven' ? acceptance.hash : acceptance.password.hash;
    const started = await sessions.start(userId, passwordHash, visitor.traceId);
    if (started === undefined) {
      throw invalid('Your password has just been changed. Sign in with the new one.');
    }
    return started;
  }

  /** Accepts a pending membership in a single sign-on session: the provider has proven the address. */
  async function acceptMembership(call: SignedInCall, organizationId: string): Promise<void> {
    const { userId, email, access } = call.session.session;
    const note = auditNote(ids, call.initiator, 'member.joined', userId, { email, password: 'none' });
    const outcome =
      access.proof === 'sso' && isOrganizationId(organizationId)
        ? await authorize(note.authority, store.acceptMembership(organizationId, note))
        : 'missing';
    if (outcome === 'missing') throw notFound('This invitation is no longer valid.');
  }

  /**
   * A person with a proven password must enter it. Others choose one, possibly one that they set through another link. That
   * comparison counts as an attempt: otherwise links would allow unlimited guessing.
   */
  async function planAcceptance(
    visitor: Visitor,
    { terms, resets, passwords: known, email }: Invitation,
    password: string,
  ): Promise<Acceptance> {
    const passwords = needs.passwords(visitor.address);
    if (terms === 'sso') throw invalid('You do not have a password. Sign in with your identity provider.');
    if (terms === 'operator')
      throw invalid(
        'You already have threads or an API key here. Ask the operator of this service for a link.',
      );
    if (!resets && known.length > 0) {
      const attempted = { person: email, isChoice: terms === 'choose' };
      const hash = await attempts.attempt(visitor, attempted, (only) =>
        passwords.find(listHashes(sha256, known, only), password),
      );
      if (hash !== undefined) return { kind: 'proven', hash };
      // Not UNAUTHORIZED: the console would treat that as an ended session.
      if (terms === 'prove') throw invalid('The password is wrong. Enter the one you sign in with.');
    }
    const fault = passwordFault(password, email);
    if (fault !== undefined) throw invalid(`The password ${fault}.`);
    const hash = await passwords.hash(password, resets ? undefined : known[0]?.hash);
    return { kind: 'chosen', password: { id: ids.password(), hash } };
  }
}

function gone(): ServiceError {
  return notFound('This link has been used or has expired. Ask for a new one.');
}
