import type { OrganizationId, UserId } from '../../domain/id.ts';
import type { Accounts, Person } from '../store.ts';
import { auditWriter } from './audit.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import { type MembershipRow, mayEnter, membershipColumns, toMembership } from './membership-row.ts';

interface PersonRow {
  id: UserId;
  email: string;
  hash: string | null;
}

export const keepPasswordText = `INSERT INTO password (user_id, hash, set_at) VALUES (?, ?, ?)
  ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, set_at = excluded.set_at`;
export const organizationsOfText = 'SELECT organization_id FROM member WHERE user_id = ?';

const isPerson = 'EXISTS (SELECT 1 FROM member WHERE member.user_id = user.id AND service = 0)';
const selectPerson = 'SELECT user.id, email, hash FROM user LEFT JOIN password ON password.user_id = user.id';

export function sqliteAccounts(
  database: Database,
  commits: CommitQueue,
): Pick<Accounts, 'findPerson' | 'listMemberships' | 'changePassword' | 'bindIdentity'> {
  const audit = auditWriter(database);
  const byEmail = database.prepare<[string], PersonRow>(`${selectPerson} WHERE email = ? AND ${isPerson}`);
  const byIdentity = database.prepare<[string, string], PersonRow>(
    `${selectPerson} JOIN identity ON identity.user_id = user.id WHERE issuer = ? AND subject = ? AND ${isPerson}`,
  );
  const bind = database.prepare<[string, string, number, string]>(
    `INSERT INTO identity (issuer, subject, user_id, bound_at)
     SELECT ?, ?, id, ? FROM user WHERE email = ? AND ${isPerson} ON CONFLICT DO NOTHING`,
  );
  const memberships = database.prepare<[string, string], MembershipRow>(
    `SELECT ${membershipColumns} FROM member JOIN organization ON organization.id = organization_id
     WHERE user_id = ? AND ${mayEnter('?')} ORDER BY joined_at, organization_id`,
  );
  const keepPassword = database.prepare<[string, string, number]>(keepPasswordText);
  const endOtherSessions = database.prepare<[string, string]>(
    'DELETE FROM session WHERE user_id = ? AND token_hash <> ?',
  );
  const organizationsOf = database.prepare<[string], OrganizationId>(organizationsOfText).pluck();

  return {
    async findPerson(email) {
      const row = byEmail.get(email);
      return row && toPerson(row);
    },

    async listMemberships(userId, proof) {
      return memberships.all(userId, proof).map(toMembership);
    },

    changePassword: (userId, passwordHash, keptTokenHash, note) =>
      commits.durable((clock) => {
        keepPassword.run(userId, passwordHash, clock.now());
        endOtherSessions.run(userId, keptTokenHash);
        for (const organizationId of organizationsOf.all(userId)) audit(organizationId, note, clock.now());
      }),

    async bindIdentity(issuer, subject, email) {
      const known = byIdentity.get(issuer, subject);
      if (known !== undefined) return toPerson(known);
      return commits.durable((clock) => {
        bind.run(issuer, subject, clock.now(), email);
        const row = byIdentity.get(issuer, subject);
        return row && toPerson(row);
      });
    },
  };
}

function toPerson({ id, email, hash }: PersonRow): Person {
  return { userId: id, email, passwordHash: hash };
}
