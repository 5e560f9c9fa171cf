import type { UserId } from '../../domain/id.ts';
import type { Accounts, Person } from '../store.ts';
import { auditText, auditValues } from './audit.ts';
import type { Database } from './database.ts';
import { type MembershipRow, mayEnter, membershipColumns, toMembership } from './membership-row.ts';
import { now } from './store-time.ts';

interface PersonRow {
  id: UserId;
  email: string;
  hash: string | null;
}

const isPerson = 'EXISTS (SELECT FROM member WHERE member.user_id = "user".id AND NOT service)';
const selectPerson =
  'SELECT "user".id, email, hash FROM "user" LEFT JOIN password ON password.user_id = "user".id';

const byEmail = { name: 'find-person', text: `${selectPerson} WHERE email = $1 AND ${isPerson}` };
const byIdentity = {
  name: 'find-person-by-identity',
  text: `${selectPerson} JOIN identity ON identity.user_id = "user".id
    WHERE issuer = $1 AND subject = $2 AND ${isPerson}`,
};
const bind = {
  name: 'bind-identity',
  text: `INSERT INTO identity (issuer, subject, user_id, bound_at)
    SELECT $3, $4, id, ${now} FROM "user" WHERE email = $5 AND ${isPerson} ON CONFLICT DO NOTHING`,
};
const memberships = {
  name: 'list-memberships',
  text: `SELECT ${membershipColumns} FROM member JOIN organization ON organization.id = organization_id
    WHERE user_id = $1 AND ${mayEnter('$2::text')} ORDER BY joined_at, organization_id`,
};

/** `userId` and `hash` are expressions over the rows of `from`. */
export const keepPasswordText = (userId: string, hash: string, from: string) =>
  `INSERT INTO password (user_id, hash, set_at) SELECT ${userId}, ${hash}, ${now} ${from}
   ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, set_at = excluded.set_at`;

/**
 * Before a password changes: a session that is being made commits before, and is then seen and ended, or waits until the
 * change has been made.
 */
export const lockUser = { name: 'lock-user', text: 'SELECT FROM "user" WHERE id = $1 FOR UPDATE' };

const changePassword = {
  name: 'change-password',
  text: `WITH kept AS (${keepPasswordText('$3', '$4', '')}
    ), ended AS (
      DELETE FROM session WHERE user_id = $3 AND token_hash <> $5
    )
    ${auditText('member WHERE user_id = $3', 'organization_id', now, 6)}`,
};

export function postgresAccounts(
  database: Database,
): Pick<Accounts, 'findPerson' | 'listMemberships' | 'changePassword' | 'bindIdentity'> {
  const { run, time } = database;
  return {
    async findPerson(email) {
      const [row] = await run<PersonRow>(byEmail, [email]);
      return row && toPerson(row);
    },

    listMemberships: async (userId, proof) =>
      (await run<MembershipRow>(memberships, [userId, proof])).map(toMembership),

    changePassword: (userId, passwordHash, keptTokenHash, note) =>
      database.transaction(async (runHere) => {
        await runHere(lockUser, [userId]);
        const values = [userId, passwordHash, keptTokenHash, ...auditValues(note)];
        await runHere(changePassword, [...time.parameters(), ...values]);
      }),

    // Whoever binds the same subject at once is waited for, and then found.
    async bindIdentity(issuer, subject, email) {
      const [known] = await run<PersonRow>(byIdentity, [issuer, subject]);
      if (known !== undefined) return toPerson(known);
      await run(bind, [...time.parameters(), issuer, subject, email]);
      const [bound] = await run<PersonRow>(byIdentity, [issuer, subject]);
      return bound && toPerson(bound);
    },
  };
}

function toPerson({ id, email, hash }: PersonRow): Person {
  return { userId: id, email, passwordHash: hash };
}
