import type { PasswordId } from './id.ts';

/**
 * Who may enter what, and what an invitation link may do.
 *
 * An address is *proven* once its owner has signed in through a provider that verified the address, or has used a link
 * that the operator created or that was sent to the address at its owner's request. Until then a password was only set by
 * the holder of an organization's link, who may have been that organization's admin: such a password enters only the
 * memberships that were accepted with it.
 */

/** How a session was started, which decides what it may enter. */
export type Access =
  | { readonly proof: 'sso' }
  | { readonly proof: 'password'; readonly passwordId: PasswordId; readonly proven: boolean };

export interface Password {
  readonly id: PasswordId;
  readonly hash: string;
  /** Whether it is valid for all memberships. An unproven one is valid only for those accepted with it. */
  readonly proven: boolean;
}

export interface MembershipFacts {
  readonly service: boolean;
  readonly accepted: boolean;
  /** The unproven password that the membership was accepted with; null after a proven acceptance. */
  readonly acceptedWith: PasswordId | null;
}

/** `pending`: the session can accept the membership, and must do so before it can enter it. */
export type Standing = 'entered' | 'pending' | 'closed';

export function checkStanding(
  access: Access,
  { service, accepted, acceptedWith }: MembershipFacts,
): Standing {
  if (service) return 'closed';
  if (access.proof === 'sso') return accepted ? 'entered' : 'pending';
  if (!accepted) return 'closed';
  return access.proven || access.passwordId === acceptedWith ? 'entered' : 'closed';
}

/** The password whose sessions this session can end; undefined if it can end all sessions of the person. */
export function coveredPassword(access: Access): PasswordId | undefined {
  return access.proof === 'password' && !access.proven ? access.passwordId : undefined;
}

/** Undefined if `current` is gone, or if `next` is another of their passwords: sign-in could not tell them apart. */
export function passwordToChange<P extends Password>(
  passwords: readonly P[],
  { current, next }: { readonly current: string; readonly next: string },
): P | undefined {
  const isTaken = next !== current && passwords.some(({ hash }) => hash === next);
  return isTaken ? undefined : passwords.find(({ hash }) => hash === current);
}

export interface Invitee {
  /** Whether they have signed in through a provider. */
  readonly identityBound: boolean;
  readonly passwords: readonly Password[];
  /** Whether they have threads in the organization of the link, or deleted ones that they can restore. */
  readonly hasThreads: boolean;
  /** Whether they have a valid personal key there, which could create threads after the link was used. */
  readonly hasKeys: boolean;
}

interface InvitationLink {
  /** Whether the operator created it. The operator is responsible for handing it over. */
  readonly byOperator: boolean;
  /** Whether a new password can replace a proven one. Such a link is the operator's, or sent to the address of the account. */
  readonly resets: boolean;
  /** Whether an admin of the organization saw it: it was not sent by email. */
  readonly shownToAdmin: boolean;
}

/**
 * `choose`: the holder sets a password. `prove`: they enter the one they have. `sso`: they sign in at the provider.
 * `operator`: they need a link of the operator, because with this one an admin could read the threads that they have or
 * that their key creates.
 */
export type InvitationTerms = 'choose' | 'prove' | 'sso' | 'operator';

export function invitationTerms(
  { resets, shownToAdmin }: InvitationLink,
  { passwords, identityBound, hasThreads, hasKeys }: Invitee,
): InvitationTerms {
  if (resets) return 'choose';
  if (passwords.some(({ proven }) => proven)) return 'prove';
  if (identityBound) return 'sso';
  return shownToAdmin && (hasThreads || hasKeys) ? 'operator' : 'choose';
}

/** Whether using the link closes other memberships: it may have been handed to somebody else. */
export function closesOtherMemberships({
  resets,
  byOperator,
}: Omit<InvitationLink, 'shownToAdmin'>): boolean {
  return resets && byOperator;
}

/** Whether an admin who adds this user could read the threads they have: by a key of a service account, or by the link. */
export function exposesThreads(service: boolean, invitee: Invitee): boolean {
  const link = { byOperator: false, resets: false, shownToAdmin: true };
  return service ? invitee.hasThreads : invitationTerms(link, invitee) === 'operator';
}

/** A new password, or one of the person's that was just proven against this hash. */
export type Acceptance =
  | { readonly kind: 'chosen'; readonly password: { readonly id: PasswordId; readonly hash: string } }
  | { readonly kind: 'proven'; readonly hash: string };

/** What accepting changes, in addition to opening the membership. */
interface AcceptancePlan {
  readonly openedWith: PasswordId | null;
  readonly added: Password | undefined;
  /** An unproven password that becomes proven, together with the memberships accepted with it. */
  readonly nowProven: PasswordId | undefined;
  /** Passwords that end, with their sessions and the keys of the memberships accepted with them. */
  readonly voided: readonly Password[];
  /** Whether these memberships stay open and become proven. Otherwise they close. */
  readonly keepsMemberships: boolean;
  readonly endsSessions: boolean;
  readonly closesOthers: boolean;
  /** Whether links that could replace the proven password end. An unproven password must not affect the whole account. */
  readonly endsResets: boolean;
}

/** Undefined if the link does not allow this acceptance. */
export function planAcceptance(
  link: InvitationLink,
  invitee: Invitee,
  acceptance: Acceptance,
): AcceptancePlan | undefined {
  const terms = invitationTerms(link, invitee);
  const { passwords } = invitee;
  const provesAddress = link.byOperator || link.resets;
  const kept = { voided: [], keepsMemberships: false, endsSessions: false, closesOthers: false };
  const none = {
    openedWith: null,
    added: undefined,
    nowProven: undefined,
    endsResets: provesAddress,
    ...kept,
  };
  if (acceptance.kind === 'proven') {
    const used = passwords.find(({ hash }) => hash === acceptance.hash);
    if (used === undefined || link.resets || (terms !== 'choose' && terms !== 'prove')) return undefined;
    if (used.proven) return none;
    if (!link.byOperator) return { ...none, openedWith: used.id };
    return { ...none, nowProven: used.id, voided: passwords.filter(({ id }) => id !== used.id) };
  }
  if (terms !== 'choose') return undefined;
  if (!provesAddress && passwords.some(({ hash }) => hash === acceptance.password.hash)) return undefined;
  const added = { ...acceptance.password, proven: provesAddress };
  if (!provesAddress) return { ...none, added, openedWith: added.id };
  const closesOthers = closesOtherMemberships(link);
  return {
    ...none,
    added,
    voided: passwords,
    endsSessions: link.resets,
    // Only the person has a link that was sent at their request.
    keepsMemberships: link.resets && !closesOthers,
    closesOthers,
  };
}
