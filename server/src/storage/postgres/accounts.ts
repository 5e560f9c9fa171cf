import { coveredPassword, passwordToChange } from '../../domain/account.ts';
import type { UserId } from '../../domain/id.ts';
import { closing } from '../audit-row.ts';
import type { Accounts, Person } from '../store.ts';
import { auditText, auditValues, writeNotes } from './audit.ts';
import type { Database, Run } from './database.ts';
import { type MembershipRow, membershipsOf, sortMemberships } from './membership-row.ts';
import { lockUser, passwordsOf, voidPasswords } from './passwords.ts';
import { now } from './store-time.ts';

interface PersonRow {
  id: UserId;
  email: string;
}

const isPerson = 'EXISTS (SELECT FROM member WHERE member.user_id = "user".id AND NOT service)';

const byEmail = {
  name: 'find-person',
  text: `SELECT id, email FROM "user" WHERE email = $1 AND ${isPerson}`,
};
const byIdentity = {
  name: 'find-person-by-identity',
  text: `SELECT "user".id, email FROM "user" JOIN identity ON identity.user_id = "user".id
    WHERE issuer = $1 AND subject = $2 AND ${isPerson}`,
};
const bind = {
  name: 'bind-identity',
  text: `INSERT INTO identity (issuer, subject, user_id, bound_at) VALUES ($3, $4, $5, ${now}) ON CONFLICT DO NOTHING`,
};
const accept = {
  name: 'accept-membership',
  text: `WITH accepted AS (
      UPDATE member SET opened_at = ${now}, password_id = NULL
      WHERE organization_id = $3 AND user_id = $4 AND NOT service AND opened_at IS NULL
      RETURNING organization_id, user_id, opened_at
    ), used AS (
      DELETE FROM invitation USING accepted
      WHERE invitation.organization_id = accepted.organization_id AND invitation.user_id = accepted.user_id
    ), noted AS (${auditText('accepted', 'organization_id', 'opened_at', 5)})
    SELECT opened_at FROM accepted`,
};
const change = {
  name: 'change-password',
  text: `UPDATE password SET hash = $3, set_at = ${now} WHERE id = $4`,
};
const endOthers = {
  name: 'end-other-sessions',
  text: `DELETE FROM session WHERE user_id = $1 AND token_hash <> $2 AND ($3::text IS NULL OR password_id = $3)`,
};

export function postgresAccounts(
  database: Database,
): Pick<Accounts, 'findPerson' | 'listMemberships' | 'acceptMembership' | 'changePassword' | 'bindIdentity'> {
  const { run, time } = database;
  return {
    async findPerson(email) {
      const [row] = await run<PersonRow>(byEmail, [email]);
      return row && toPerson(run, row);
    },

    listMemberships: async (userId, access) =>
      sortMemberships(access, await run<MembershipRow>(membershipsOf, [userId])),

    async acceptMembership(organizationId, userId, note) {
      const values = [organizationId, userId, ...auditValues(note)];
      const [row] = await run<{ opened_at: number }>(accept, [...time.parameters(), ...values]);
      if (row === undefined) return 'missing';
      time.see(row.opened_at);
      return 'accepted';
    },

    changePassword: (userId, { keptTokenHash, ...replacement }, note) =>
      database.transaction(async (runHere) => {
        await runHere(lockUser, [userId]);
        const password = passwordToChange(await passwordsOf(runHere, userId), replacement);
        if (password === undefined) return 'refused';
        const access = { proof: 'password', passwordId: password.id, proven: password.proven } as const;
        await runHere(change, [...time.parameters(), replacement.next, password.id]);
        await runHere(endOthers, [userId, keptTokenHash, coveredPassword(access) ?? null]);
        const { entered } = sortMemberships(access, await runHere<MembershipRow>(membershipsOf, [userId]));
        await writeNotes(runHere, time, entered, note);
        return 'changed';
      }),

    // Whoever binds the same subject at once is waited for, and then found.
    async bindIdentity(issuer, subject, email, note) {
      const [known] = await run<PersonRow>(byIdentity, [issuer, subject]);
      if (known !== undefined) return toPerson(run, known);
      return database.transaction(async (runHere) => {
        const [person] = await runHere<PersonRow>(byEmail, [email]);
        if (person !== undefined) {
          await runHere(lockUser, [person.id]);
          await runHere(bind, [...time.parameters(), issuer, subject, person.id]);
        }
        const [bound] = await runHere<PersonRow>(byIdentity, [issuer, subject]);
        if (bound === undefined) return undefined;
        const userId = bound.id;
        const unproven = (await passwordsOf(runHere, userId)).filter(({ proven }) => !proven);
        const closed = await voidPasswords(runHere, time, userId, unproven);
        const voided = closing({ ...note, actor: { kind: 'user', userId }, subject: userId });
        const organizations = closed.map((organizationId) => ({ organizationId }));
        await writeNotes(runHere, time, organizations, voided);
        return toPerson(runHere, bound);
      });
    },
  };
}

async function toPerson(run: Run, { id: userId, email }: PersonRow): Promise<Person> {
  return { userId, email, passwords: await passwordsOf(run, userId) };
}
