import type { OrganizationId, UserId } from '../../domain/id.ts';
import { closing } from '../audit-row.ts';
import type { Accounts, Invitation } from '../store.ts';
import { keepPasswordText, lockUser } from './accounts.ts';
import { auditText, auditValues } from './audit.ts';
import type { Database } from './database.ts';
import { now } from './store-time.ts';

interface InvitationRow {
  organization_id: OrganizationId;
  name: string;
  user_id: UserId;
  email: string;
  hash: string | null;
  choose: boolean;
}

// The membership is held until the commit: whoever removes the member waits, and takes the invitation along. At most two
// that have expired are forgotten, as for sessions.
const create = {
  name: 'create-invitation',
  text: `WITH invited AS (
      SELECT user_id, service FROM member WHERE organization_id = $3 AND user_id = $4 FOR KEY SHARE
    ), made AS (
      INSERT INTO invitation (organization_id, user_id, token_hash, resets, created_at, expires_at)
      SELECT $3, user_id, $5, $6, at, at + $7::bigint FROM invited, (SELECT ${now} AS at) AS moment WHERE NOT service
      ON CONFLICT (organization_id, user_id) DO UPDATE SET token_hash = excluded.token_hash, resets = excluded.resets,
        created_at = excluded.created_at, expires_at = excluded.expires_at
      RETURNING created_at
    ), forgotten AS (
      DELETE FROM invitation WHERE (organization_id, user_id) IN (
        SELECT organization_id, user_id FROM invitation
        WHERE organization_id = $3 AND expires_at <= ${now} AND user_id <> $4
        ORDER BY expires_at LIMIT 2 FOR UPDATE SKIP LOCKED)
    ), noted AS (${auditText('made', '$3', 'created_at', 8)})
    SELECT service, (SELECT created_at FROM made) AS made_at FROM invited`,
};

/** Whoever can sign in already is never signed in as by another: only the operator may let the password be chosen anew. */
const mayChoose = `resets OR (hash IS NULL AND NOT EXISTS (
  SELECT FROM identity WHERE identity.user_id = invitation.user_id))`;
const fromInvitation = `FROM invitation JOIN member USING (organization_id, user_id)
  LEFT JOIN password ON password.user_id = invitation.user_id`;
const isUsable = `token_hash = $3 AND expires_at > ${now}`;

const find = {
  name: 'find-invitation',
  text: `SELECT invitation.organization_id, organization.name, invitation.user_id, email, hash, ${mayChoose} AS choose
    ${fromInvitation} JOIN organization ON organization.id = invitation.organization_id
      JOIN "user" ON "user".id = invitation.user_id
    WHERE ${isUsable}`,
};

const findInvited = {
  name: 'find-invited',
  text: 'SELECT organization_id, user_id FROM invitation WHERE token_hash = $1',
};
/** In the order of a removal, which takes the invitation after the membership. */
const lockMember = {
  name: 'lock-member',
  text: 'SELECT FROM member WHERE organization_id = $1 AND user_id = $2 FOR NO KEY UPDATE',
};
/** As they were before. */
const closed = `member JOIN used USING (user_id)
  WHERE member.organization_id <> used.organization_id AND opened_at IS NOT NULL AND $4::text IS NOT NULL`;
const accept = {
  name: 'accept-invitation',
  text: `WITH found AS (
      SELECT invitation.organization_id, invitation.user_id, ${mayChoose} AS choose
      ${fromInvitation} WHERE ${isUsable} FOR UPDATE OF invitation
    ), used AS (
      DELETE FROM invitation USING found
      WHERE invitation.organization_id = found.organization_id AND invitation.user_id = found.user_id
        AND choose = ($4::text IS NOT NULL)
      RETURNING found.organization_id, found.user_id
    ), opened AS (
      UPDATE member SET opened_at = CASE WHEN member.organization_id = used.organization_id THEN ${now} END
      FROM used WHERE member.user_id = used.user_id
        AND (member.organization_id = used.organization_id OR $4::text IS NOT NULL)
    ), chosen AS (${keepPasswordText('user_id', '$4::text', 'FROM used WHERE $4::text IS NOT NULL')}
    ), ended AS (
      DELETE FROM session USING used WHERE session.user_id = used.user_id AND $4::text IS NOT NULL
    ), noted AS (${auditText('used', 'organization_id', now, 5)}
    ), noted_elsewhere AS (${auditText(closed, 'member.organization_id', now, 12)})
    SELECT EXISTS (SELECT FROM used) AS used FROM found`,
};

export function postgresInvitations(
  database: Database,
): Pick<Accounts, 'createInvitation' | 'findInvitation' | 'acceptInvitation'> {
  const { run, time } = database;
  return {
    async createInvitation(organizationId, { tokenHash, userId, keepMs, resets }, note) {
      const values = [organizationId, userId, tokenHash, resets, keepMs, ...auditValues(note)];
      const [row] = await run<{ service: boolean; made_at: number | null }>(create, [
        ...time.parameters(),
        ...values,
      ]);
      if (row === undefined) return 'not-a-member';
      if (row.service) return 'service-account';
      time.see(row.made_at!);
      return 'created';
    },

    async findInvitation(tokenHash) {
      const [row] = await run<InvitationRow>(find, [...time.parameters(), tokenHash]);
      return row && toInvitation(row);
    },

    // What decides is read once the person is held: of two who choose a first password at once, one finds it chosen.
    acceptInvitation: (tokenHash, { passwordHash }, note) =>
      database.transaction(async (runHere) => {
        const [invited] = await runHere<InvitationRow>(findInvited, [tokenHash]);
        if (invited === undefined) return { outcome: 'missing' };
        const { organization_id: organizationId, user_id: userId } = invited;
        await runHere(lockUser, [userId]);
        await runHere(lockMember, [organizationId, userId]);
        const values = [tokenHash, passwordHash, ...auditValues(note), ...auditValues(closing(note))];
        const [found] = await runHere<{ used: boolean }>(accept, [...time.parameters(), ...values]);
        if (found === undefined) return { outcome: 'missing' };
        return found.used ? { outcome: 'accepted', userId, organizationId } : { outcome: 'refused' };
      }),
  };
}

function toInvitation(row: InvitationRow): Invitation {
  return {
    organizationId: row.organization_id,
    organizationName: row.name,
    userId: row.user_id,
    email: row.email,
    password: row.choose ? 'choose' : 'prove',
    passwordHash: row.choose ? null : row.hash,
  };
}
