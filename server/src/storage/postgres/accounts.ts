import { coveredPassword, passwordToChange } from '../../domain/account.ts';
import { type MembershipRow, sortMemberships } from '../memberships.ts';
import type { Accounts, AuditNote, Person } from '../store.ts';
import { insertNote, noteValues, writeNotes } from './audit.ts';
import type { Database, Run } from './database.ts';
import { listMemberships } from './membership-row.ts';
import { lockUser, passwordsOf, voidPasswords } from './passwords.ts';
import { sql, statement } from './sql.ts';
import { now } from './store-time.ts';

type PersonRow = Pick<Person, 'userId' | 'email'>;

const selectPerson = sql`SELECT "user".id AS "userId", email FROM "user"`;
const isPerson = sql`EXISTS (SELECT FROM member WHERE member.user_id = "user".id AND NOT service)`;

const findByEmail = statement('find-person')`${selectPerson} WHERE email = :email AND ${isPerson}`;
const findByIdentity = statement('find-person-by-identity')`
  ${selectPerson} JOIN identity ON identity.user_id = "user".id
  WHERE issuer = :issuer AND subject = :subject AND ${isPerson}`;
const bindSubject = statement('bind-identity')`INSERT INTO identity (issuer, subject, user_id, bound_at)
  VALUES (:issuer, :subject, :userId, ${now}) ON CONFLICT DO NOTHING`;
const accept = statement('accept-membership')`WITH accepted AS (
    UPDATE member SET opened_at = ${now}, password_id = NULL
    WHERE organization_id = :organizationId AND user_id = :userId AND NOT service AND opened_at IS NULL
    RETURNING organization_id, user_id, opened_at
  ), used AS (
    DELETE FROM invitation USING accepted
    WHERE invitation.organization_id = accepted.organization_id AND invitation.user_id = accepted.user_id
  ), noted AS (${insertNote(sql`accepted`, sql`organization_id`, sql`opened_at`)})
  SELECT opened_at AS at FROM accepted`;
const change = statement('change-password')`
  UPDATE password SET hash = :next, set_at = ${now} WHERE id = :passwordId`;
const endOthers = statement('end-other-sessions')`DELETE FROM session
  WHERE user_id = :userId AND token_hash <> :keptTokenHash
    AND (:passwordId::text IS NULL OR password_id = :passwordId)`;

export function postgresAccounts(
  database: Database,
): Pick<Accounts, 'findPerson' | 'listMemberships' | 'acceptMembership' | 'changePassword' | 'bindIdentity'> {
  const { run, time } = database;
  return {
    async findPerson(email) {
      const [person] = await run<PersonRow>(findByEmail, { email });
      return person && withPasswords(run, person);
    },

    listMemberships: async (userId, access) =>
      sortMemberships(access, await run<MembershipRow>(listMemberships, { userId })),

    async acceptMembership(organizationId, userId, note) {
      const [row] = await run<{ at: number }>(accept, { organizationId, userId, ...noteValues(note) });
      if (row === undefined) return 'missing';
      time.see(row.at);
      return 'accepted';
    },

    changePassword: (userId, { keptTokenHash, ...replacement }, note) =>
      database.transaction(async (runHere) => {
        await lockUser(runHere, userId);
        const password = passwordToChange(await passwordsOf(runHere, userId), replacement);
        if (password === undefined) return 'refused';
        const access = { proof: 'password', passwordId: password.id, proven: password.proven } as const;
        await runHere(change, { next: replacement.next, passwordId: password.id });
        await runHere(endOthers, { userId, keptTokenHash, passwordId: coveredPassword(access) ?? null });
        const { entered } = sortMemberships(
          access,
          await runHere<MembershipRow>(listMemberships, { userId }),
        );
        await writeNotes(runHere, entered, note);
        return 'changed';
      }),

    async bindIdentity(issuer, subject, email, note) {
      const [known] = await run<PersonRow>(findByIdentity, { issuer, subject });
      if (known !== undefined) return withPasswords(run, known);
      return database.transaction(async (runHere) => {
        const [person] = await runHere<PersonRow>(findByEmail, { email });
        if (person !== undefined) {
          await lockUser(runHere, person.userId);
          // Waits for a concurrent binding of the same subject, which the next statement then finds.
          await runHere(bindSubject, { issuer, subject, userId: person.userId });
        }
        const [bound] = await runHere<PersonRow>(findByIdentity, { issuer, subject });
        if (bound === undefined) return undefined;
        const { userId } = bound;
        const unproven = (await passwordsOf(runHere, userId)).filter(({ proven }) => !proven);
        const closed = await voidPasswords(runHere, userId, unproven);
        const voided: AuditNote = { ...note, actor: { kind: 'user', userId }, subject: userId };
        await writeNotes(runHere, closed, voided);
        return withPasswords(runHere, bound);
      });
    },
  };
}

async function withPasswords(run: Run, person: PersonRow): Promise<Person> {
  return { ...person, passwords: await passwordsOf(run, person.userId) };
}
