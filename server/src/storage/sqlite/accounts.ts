import { coveredPassword, passwordToChange } from '../../domain/account.ts';
import { sortMemberships } from '../memberships.ts';
import type { Accounts, AuditNote, Person } from '../store.ts';
import { auditWriter } from './audit.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import { prepareListMemberships } from './membership-row.ts';
import { passwordTable } from './passwords.ts';

type PersonRow = Omit<Person, 'passwords'>;

const isPerson = 'EXISTS (SELECT 1 FROM member WHERE member.user_id = user.id AND service = 0)';

export function sqliteAccounts(
  database: Database,
  commits: CommitQueue,
): Pick<Accounts, 'findPerson' | 'listMemberships' | 'acceptMembership' | 'changePassword' | 'bindIdentity'> {
  const audit = auditWriter(database);
  const passwords = passwordTable(database);
  const byEmail = database.prepare<[string], PersonRow>(
    `SELECT id AS userId, email FROM user WHERE email = ? AND ${isPerson}`,
  );
  const byIdentity = database.prepare<[string, string], PersonRow>(
    `SELECT user.id AS userId, email FROM user JOIN identity ON identity.user_id = user.id
     WHERE issuer = ? AND subject = ? AND ${isPerson}`,
  );
  const bind = database.prepare<[string, string, number, string]>(
    `INSERT INTO identity (issuer, subject, user_id, bound_at)
     SELECT ?, ?, id, ? FROM user WHERE email = ? AND ${isPerson} ON CONFLICT DO NOTHING`,
  );
  const listMemberships = prepareListMemberships(database);
  const accept = database.prepare<[number, string, string]>(
    `UPDATE member SET opened_at = ?, password_id = NULL
     WHERE organization_id = ? AND user_id = ? AND service = 0 AND opened_at IS NULL`,
  );
  const useInvitation = database.prepare<[string, string]>(
    'DELETE FROM invitation WHERE organization_id = ? AND user_id = ?',
  );
  const change = database.prepare<[string, number, string]>(
    'UPDATE password SET hash = ?, set_at = ? WHERE id = ?',
  );
  const endOthers = database.prepare(
    `DELETE FROM session WHERE user_id = @userId AND token_hash <> @keptTokenHash
     AND (@covered IS NULL OR password_id = @covered)`,
  );

  return {
    async findPerson(email) {
      const row = byEmail.get(email);
      return row && toPerson(row);
    },

    async listMemberships(userId, access) {
      return sortMemberships(access, listMemberships(userId));
    },

    acceptMembership: (organizationId, userId, note) =>
      commits.durable((clock) => {
        const now = clock.now();
        if (accept.run(now, organizationId, userId).changes === 0) return 'missing';
        useInvitation.run(organizationId, userId);
        audit(organizationId, note, now);
        return 'accepted';
      }),

    changePassword: (userId, { keptTokenHash, ...replacement }, note) =>
      commits.durable((clock) => {
        const now = clock.now();
        const password = passwordToChange(passwords.of(userId), replacement);
        if (password === undefined) return 'refused';
        const access = { proof: 'password', passwordId: password.id, proven: password.proven } as const;
        change.run(replacement.next, now, password.id);
        endOthers.run({ userId, keptTokenHash, covered: coveredPassword(access) ?? null });
        for (const { organizationId } of sortMemberships(access, listMemberships(userId)).entered)
          audit(organizationId, note, now);
        return 'changed';
      }),

    async bindIdentity(issuer, subject, email, note) {
      const known = byIdentity.get(issuer, subject);
      if (known !== undefined) return toPerson(known);
      return commits.durable((clock) => {
        const now = clock.now();
        bind.run(issuer, subject, now, email);
        const row = byIdentity.get(issuer, subject);
        if (row === undefined) return undefined;
        const { userId } = row;
        const unproven = passwords.of(userId).filter(({ proven }) => !proven);
        const voided: AuditNote = { ...note, actor: { kind: 'user', userId }, subject: userId };
        for (const organizationId of passwords.void(userId, unproven, now))
          audit(organizationId, voided, now);
        return toPerson(row);
      });
    },
  };

  function toPerson(row: PersonRow): Person {
    return { ...row, passwords: passwords.of(row.userId) };
  }
}
