import { exposesThreads } from '../../domain/account.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import { isLastAdmin, type Member, type MemberFacts, type Organization } from '../../domain/organization.ts';
import type { Organizations } from '../port/store.ts';
import { readInvitee } from './accounts.ts';
import { writeNote } from './audit.ts';
import { authorizedInTurn, organizationColumns as columns, keyIsLive } from './authority.ts';
import { sql, statement } from './sql.ts';
import { count, method, row, rows, run, type Transactions, type Work } from './work.ts';

const insertOrganization = statement('insert-organization')`
  INSERT INTO organization (id, name, api_enabled, daily_quota, created_at)
  VALUES (:id, :name, :apiEnabled, :dailyQuota, :now)`;
const update = statement('update-organization')`
  UPDATE organization SET api_enabled = :apiEnabled, daily_quota = :dailyQuota WHERE id = :organizationId`;
const findByIdOrName = statement('find-organization', {
  booleans: ['apiEnabled'],
})`SELECT ${columns} FROM organization
  WHERE id = :idOrName OR name = :idOrName ORDER BY id = :idOrName DESC LIMIT 2`;
const listAll = statement('list-organizations', {
  booleans: ['apiEnabled'],
})`SELECT ${columns} FROM organization ORDER BY created_at, id`;

// `+ 0` keeps SQLite from using the index on `expires_at`, with which it would read every live invitation for each member.
const selectMember = sql`
  SELECT member.user_id AS "userId", email, role, service, joined_at AS "joinedAt", opened_at IS NOT NULL AS opened,
    expires_at AS "invitedUntil", mail_state AS "mailState"
  FROM member JOIN "user" ON "user".id = member.user_id
    LEFT JOIN invitation ON token_hash = (SELECT token_hash FROM invitation AS latest
      WHERE latest.organization_id = member.organization_id AND latest.user_id = member.user_id
        AND latest.expires_at + 0 > :now ORDER BY latest.created_at DESC, requested DESC LIMIT 1)
  WHERE member.organization_id = :organizationId`;
const findByEmail = statement('find-member', {
  booleans: ['opened', 'service'],
})`${selectMember} AND email = :email`;
const findById = statement('find-member-by-id', {
  booleans: ['opened', 'service'],
})`${selectMember} AND member.user_id = :userId`;
export const listMembers = statement('list-members', {
  booleans: ['opened', 'service'],
})`${selectMember} ORDER BY joined_at, member.user_id`;

const selectCount = statement('count-members')`
  SELECT count(*) AS members FROM member WHERE organization_id = :organizationId`;
const insertUser = statement('insert-user')`
  INSERT INTO "user" (id, email) VALUES (:candidateUserId, :email) ON CONFLICT (email) DO NOTHING RETURNING id`;
// A weak lock: two admins who add each other hold their own users. A purge, which replaces the address, still waits.
const keepUser = statement('keep-user')`SELECT id FROM "user" WHERE email = :email FOR KEY SHARE`;
// Sessions are rejected once a person has left every organization. A new membership would make them valid again.
const endSessions = statement('end-sessions-of-returning-person')`DELETE FROM session WHERE user_id = :userId
  AND NOT EXISTS (SELECT 1 FROM member WHERE member.user_id = session.user_id AND NOT service)`;
const insert = statement('insert-member')`
  INSERT INTO member (organization_id, user_id, role, service, joined_at)
  VALUES (:organizationId, :userId, :role, :service, :now)`;
const findWithAdmins = statement('find-member-with-admins', { booleans: ['opened', 'service'] })`
  SELECT user_id AS "userId", role, service, opened_at IS NOT NULL AS opened FROM member
  WHERE organization_id = :organizationId AND (user_id = :userId OR role = 'admin')`;
const remove = statement('remove-member')`
  DELETE FROM member WHERE organization_id = :organizationId AND user_id = :userId`;
const revokeKeys = statement('revoke-keys-of-user')`UPDATE api_key SET revoked_at = :now
  WHERE organization_id = :organizationId AND user_id = :userId AND ${keyIsLive} RETURNING id`;
const setRole = statement('set-member-role')`
  UPDATE member SET role = :role WHERE organization_id = :organizationId AND user_id = :userId`;

/** The user with this address, who may be new. */
function* ensureUser(email: string, candidateUserId: UserId): Work<UserId> {
  for (;;) {
    const added = yield* row<{ id: UserId }>(insertUser, { candidateUserId, email });
    const user = added ?? (yield* row<{ id: UserId }>(keepUser, { email }));
    // Otherwise, a purge has replaced the address in the meantime.
    if (user !== undefined) return user.id;
  }
}

function* countMembers(organizationId: OrganizationId): Work<number> {
  return (yield* row<{ members: number }>(selectCount, { organizationId }))!.members;
}

/** Call it with the organization locked: until the commit, no member is removed and no role changes. */
function* findFacts(organizationId: OrganizationId, userId: UserId) {
  const found = yield* rows<MemberFacts>(findWithAdmins, { organizationId, userId });
  const member = found.find((each) => each.userId === userId);
  return member && { ...member, isLastAdmin: isLastAdmin(member, found) };
}

export const organizations = ({ read, write }: Transactions): Organizations => ({
  createOrganization: method(write, function* (organization, note) {
    yield* run(insertOrganization, { ...organization });
    yield* writeNote(organization.id, note);
  }),

  updateOrganization: authorizedInTurn(write, function* (known, organizationId, change, note) {
    if (known === undefined) return undefined;
    const { apiEnabled = known.apiEnabled, dailyQuota = known.dailyQuota } = change;
    if (apiEnabled === known.apiEnabled && dailyQuota === known.dailyQuota) return known;
    yield* run(update, { organizationId, apiEnabled, dailyQuota });
    yield* writeNote(organizationId, note);
    return { ...known, apiEnabled, dailyQuota };
  }),

  async findOrganization(idOrName) {
    const [first, second] = await read(() => rows<Organization>(findByIdOrName, { idOrName }));
    return first?.id === idOrName || second === undefined ? first : undefined;
  },

  listOrganizations: () => read(() => rows<Organization>(listAll)),

  addMember: authorizedInTurn(
    write,
    function* (
      organization,
      organizationId,
      { candidateUserId, email, role, service, membersMax, withoutThreads },
      note,
    ) {
      if (organization === undefined) return { outcome: 'organization-missing' };
      if ((yield* count(findByEmail, { organizationId, email })) === 1) return { outcome: 'already-member' };
      if ((yield* countMembers(organizationId)) >= membersMax) return { outcome: 'too-many' };
      const userId = yield* ensureUser(email, candidateUserId);
      if (withoutThreads && exposesThreads(service, yield* readInvitee(organizationId, userId)))
        return { outcome: 'has-threads' };
      yield* run(endSessions, { userId });
      yield* run(insert, { organizationId, userId, role, service });
      yield* writeNote(organizationId, { ...note, subject: userId });
      return { outcome: 'added', userId };
    },
  ),

  // The invitation and the requests for keys are removed with the membership.
  removeMember: authorizedInTurn(write, function* (_organization, organizationId, email, keepAdmin, note) {
    const found = yield* row<Member>(findByEmail, { organizationId, email });
    const member = found && (yield* findFacts(organizationId, found.userId));
    if (member === undefined) return { outcome: 'missing' };
    if (keepAdmin && member.isLastAdmin) return { outcome: 'last-admin' };
    const { userId } = member;
    yield* run(remove, { organizationId, userId });
    const keysRevoked = yield* count(revokeKeys, { organizationId, userId });
    yield* writeNote(organizationId, note);
    return { outcome: 'removed', userId, keysRevoked };
  }),

  setMemberRole: authorizedInTurn(write, function* (_organization, organizationId, userId, role, note) {
    const member = yield* findFacts(organizationId, userId);
    if (member === undefined) return 'missing';
    if (member.role === role) return 'unchanged';
    if (member.isLastAdmin) return 'last-admin';
    yield* run(setRole, { organizationId, userId, role });
    yield* writeNote(organizationId, note);
    return 'changed';
  }),

  findMember: (organizationId, email) => read(() => row<Member>(findByEmail, { organizationId, email })),

  findMemberById: (organizationId, userId) => read(() => row<Member>(findById, { organizationId, userId })),

  countMembers: (organizationId) => read(() => countMembers(organizationId)),

  listMembers: (organizationId) => read(() => rows<Member>(listMembers, { organizationId })),
});
