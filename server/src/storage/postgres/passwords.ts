import type { Password } from '../../domain/account.ts';
import type { OrganizationId, PasswordId, UserId } from '../../domain/id.ts';
import { keyIsLive } from './api-keys.ts';
import type { Run } from './database.ts';
import { sql, statement } from './sql.ts';
import { now } from './store-time.ts';

const lock = statement('lock-user')`SELECT FROM "user" WHERE id = :userId FOR UPDATE`;

/**
 * To be called before passwords change. A session that is being created at the same time either commits first, and is
 * then seen and ended, or waits until the change is committed.
 */
export async function lockUser(run: Run, userId: UserId): Promise<void> {
  await run(lock, { userId });
}

const isUsed = sql`(proven OR EXISTS (SELECT FROM member WHERE member.password_id = password.id))`;
const list = statement('passwords-of-user')`
  SELECT id, hash, proven FROM password WHERE user_id = :userId AND ${isUsed} ORDER BY id`;
const insert = statement('add-password')`
  INSERT INTO password (id, user_id, hash, proven, set_at) VALUES (:id, :userId, :hash, :proven, ${now})`;
const prove = statement('prove-password')`UPDATE password SET proven = true WHERE id = :id`;
const proveMemberships = statement('prove-memberships')`
  UPDATE member SET password_id = NULL WHERE password_id = :id`;
// Keys made by the operator have no creator. They stay: they were not made in a session of these passwords.
const close = statement('close-memberships-of-passwords')`WITH closed AS (
    UPDATE member SET opened_at = NULL, password_id = NULL WHERE password_id = ANY(:ids)
    RETURNING organization_id
  ), revoked AS (
    UPDATE api_key SET revoked_at = ${now} FROM closed
    WHERE api_key.organization_id = closed.organization_id AND user_id = :userId AND created_by IS NOT NULL
      AND ${keyIsLive}
  )
  SELECT organization_id AS "organizationId" FROM closed`;
const remove = statement('remove-passwords')`DELETE FROM password WHERE id = ANY(:ids)`;
const removeUnused = statement('forget-unused-passwords')`
  DELETE FROM password WHERE user_id = :userId AND NOT ${isUsed}`;

/** The passwords that the user can sign in with, oldest first. */
export const passwordsOf = (run: Run, userId: UserId) => run<Password>(list, { userId });

export async function addPassword(run: Run, userId: UserId, password: Password): Promise<void> {
  await run(insert, { ...password, userId });
}

/** Marks the password as proven, and with it the memberships that were accepted with it. */
export async function provePassword(run: Run, id: PasswordId): Promise<void> {
  await run(prove, { id });
  await run(proveMemberships, { id });
}

/** Removes passwords with their sessions and closes the memberships accepted with them; returns their organizations. */
export async function voidPasswords(
  run: Run,
  userId: UserId,
  passwords: readonly Password[],
): Promise<{ organizationId: OrganizationId }[]> {
  if (passwords.length === 0) return [];
  const ids = passwords.map(({ id }) => id);
  const closed = await run<{ organizationId: OrganizationId }>(close, { userId, ids });
  await run(remove, { ids });
  return closed;
}

/** Removes unproven passwords that no membership was accepted with. */
export async function removeUnusedPasswords(run: Run, userId: UserId): Promise<void> {
  await run(removeUnused, { userId });
}
