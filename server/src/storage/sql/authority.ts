import { type Access, checkStanding } from '../../domain/account.ts';
import type { AnyAuthority, Authority, KeyAuthority, SessionAuthority } from '../../domain/authority.ts';
import type { OrganizationId, PasswordId, UserId } from '../../domain/id.ts';
import type { MemberRole, Organization } from '../../domain/organization.ts';
import type { AuditNote, KeyGrant, Unauthorized } from '../port/store.ts';
import { callColumns, sql, statement, type Values } from './sql.ts';
import { count, row, run, type Transactions, type Work } from './work.ts';

export const keyIsLive = sql`(revoked_at IS NULL OR revoked_at > :now)`;

export const organizationColumns = sql`id, name, api_enabled AS "apiEnabled", daily_quota AS "dailyQuota",
  created_at AS "createdAt"`;
// Changes of settings, members, roles and credentials wait for each other, so that each sees what was committed before it.
// Of two admins who remove each other at once, the second is no longer an admin. The members are locked after it.
export const lockOrganization = statement('lock-organization', { booleans: ['apiEnabled'] })`
  SELECT ${organizationColumns} FROM organization WHERE id = :organizationId FOR NO KEY UPDATE`;
/**
 * The user is locked before their sessions and passwords are read. A password change takes a stronger lock: it either waits,
 * and then ends the new session and revokes the new key, or commits first, and what it has changed is read.
 */
export const lockForSession = statement('lock-user-of-session')`
  SELECT 1 FROM "user" WHERE id = :userId FOR SHARE`;
const holdSession = statement('hold-session', { booleans: ['proven'] })`
  SELECT password_id AS "passwordId",
    (SELECT proven FROM password WHERE password.id = session.password_id) AS proven
  FROM session WHERE token_hash = :sessionHash AND user_id = :userId AND expires_at > :now FOR SHARE`;
// A removal and a change of the role wait for the commit. FOR KEY SHARE would let a change of the role pass.
const holdMembership = statement('hold-membership', { booleans: ['accepted', 'service'] })`
  SELECT role, service, opened_at IS NOT NULL AS accepted, password_id AS "acceptedWith" FROM member
  WHERE organization_id = :organizationId AND user_id = :userId FOR SHARE`;
const selectMember = sql`SELECT service FROM member WHERE organization_id = :organizationId AND user_id = :userId`;
/** Until the commit, a removal of the member waits, and then also removes what was added for them. */
export const keepMember = statement('keep-member', { booleans: ['service'] })`${selectMember} FOR KEY SHARE`;
/** Two writes for one member wait for each other, and the second one sees what the first one has committed. */
export const lockMember = statement('lock-member', {
  booleans: ['service'],
})`${selectMember} FOR NO KEY UPDATE`;
const findGrant = statement('find-key-grant', { booleans: ['apiEnabled'] })`
  SELECT organization_id AS "organizationId", api_key.id AS "keyId", user_id AS "userId", api_enabled AS "apiEnabled"
  FROM api_key JOIN organization ON organization.id = organization_id WHERE hash = :hash AND ${keyIsLive}`;

const holdKey = statement('hold-api-key', { booleans: ['apiEnabled'] })`
  SELECT organization_id AS "organizationId", id AS "keyId", user_id AS "userId",
    (SELECT api_enabled FROM organization WHERE organization.id = organization_id) AS "apiEnabled"
  FROM api_key WHERE hash = :hash AND ${keyIsLive} FOR SHARE`;

export const findKeyGrant = (hash: string): Work<KeyGrant | undefined> => row<KeyGrant>(findGrant, { hash });

export function* isMember(organizationId: OrganizationId, userId: UserId): Work<boolean> {
  return (yield* count(keepMember, { organizationId, userId })) === 1;
}

export const unauthorized: Unauthorized = 'unauthorized';

/**
 * What the session may enter. Undefined if it has ended. Until the commit, it does not end. The first statement names the
 * organization: on PostgreSQL, the transactions of one organization share a few connections.
 */
export function* readAccess({
  userId,
  sessionHash,
  organizationId,
}: SessionAuthority): Work<Access | undefined> {
  yield* run(lockForSession, { userId, organizationId });
  type Held = { passwordId: PasswordId | null; proven: boolean | number | null };
  const held = yield* row<Held>(holdSession, { sessionHash, userId });
  if (held === undefined) return undefined;
  const { passwordId, proven } = held;
  return passwordId === null ? { proof: 'sso' } : { proof: 'password', passwordId, proven: Boolean(proven) };
}

interface MembershipRow {
  role: MemberRole;
  service: boolean;
  accepted: boolean;
  acceptedWith: PasswordId | null;
}

/** Call it with the organization locked, if the transaction locks it: organizations are locked before people. */
export function* isAuthorized(organizationId: OrganizationId, authority: AnyAuthority): Work<boolean> {
  switch (authority.kind) {
    case 'operator':
    case 'skein':
    case 'proof':
      return true;
    case 'key':
      return isGrantedTo(
        organizationId,
        authority,
        yield* row<KeyGrant>(holdKey, { hash: authority.keyHash, organizationId }),
      );
    case 'session':
      return yield* isEntered(organizationId, authority);
  }
}

export function isGrantedTo(
  organizationId: OrganizationId,
  { userId }: KeyAuthority,
  grant: KeyGrant | undefined,
): boolean {
  return grant?.organizationId === organizationId && grant.userId === userId && grant.apiEnabled;
}

function* isEntered(organizationId: OrganizationId, authority: SessionAuthority): Work<boolean> {
  const { userId, role } = authority;
  if (authority.organizationId !== organizationId) return false;
  const access = yield* readAccess(authority);
  if (access === undefined) return false;
  const member = yield* row<MembershipRow>(holdMembership, { organizationId, userId });
  if (member === undefined || checkStanding(access, member) !== 'entered') return false;
  return role === 'member' || member.role === role;
}

type Write = Transactions['write'];
/** A note, or the authority itself, is the last argument of every write that needs one. */
type Grounds = Authority | Pick<AuditNote<AnyAuthority>, 'authority'>;

function getAuthority(args: readonly unknown[]): AnyAuthority {
  const last = args.at(-1) as Grounds;
  return 'authority' in last ? last.authority : last;
}

/** A method of a port that verifies its authority, and only then runs the work. */
export function authorized<Args extends unknown[], T>(
  write: Write,
  work: (organizationId: OrganizationId, ...args: Args) => Work<T>,
): (organizationId: OrganizationId, ...args: Args) => Promise<T | Unauthorized> {
  return (organizationId, ...args) =>
    write(function* () {
      if (!(yield* isAuthorized(organizationId, getAuthority(args)))) return unauthorized;
      return yield* work(organizationId, ...args);
    });
}

/** The same with the organization's row, which is locked first. Undefined if there is no such organization. */
export function authorizedInTurn<Args extends unknown[], T>(
  write: Write,
  work: (organization: Organization | undefined, organizationId: OrganizationId, ...args: Args) => Work<T>,
): (organizationId: OrganizationId, ...args: Args) => Promise<T | Unauthorized> {
  return (organizationId, ...args) =>
    write(function* () {
      const organization = yield* row<Organization>(lockOrganization, { organizationId });
      if (!(yield* isAuthorized(organizationId, getAuthority(args)))) return unauthorized;
      return yield* work(organization, organizationId, ...args);
    });
}

/** The values of an authority in a statement that verifies it: see `isGranted` in `postgres/grants.ts`. */
export const authorityColumns = callColumns({ text: 'userId keyHash sessionHash sessionOrganization role' });

export const authorityValues = (authority: Authority): Values => ({
  userId: authority.userId ?? null,
  keyHash: authority.kind === 'key' ? authority.keyHash : null,
  sessionHash: authority.kind === 'session' ? authority.sessionHash : null,
  sessionOrganization: authority.kind === 'session' ? authority.organizationId : null,
  role: authority.kind === 'session' ? authority.role : null,
});
