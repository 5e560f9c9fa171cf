import type { Password } from '../../domain/account.ts';
import type { OrganizationId, PasswordId, UserId } from '../../domain/id.ts';
import { keyIsLive } from './api-keys.ts';
import type { Run } from './database.ts';
import { now, type StoreTime } from './store-time.ts';

/**
 * Before passwords change: a session that is being made commits before, and is then seen and ended, or waits until the
 * change has been made.
 */
export const lockUser = { name: 'lock-user', text: 'SELECT FROM "user" WHERE id = $1 FOR UPDATE' };

const isUsed = 'proven OR EXISTS (SELECT FROM member WHERE member.password_id = password.id)';
const select = {
  name: 'passwords-of-user',
  text: `SELECT id, hash, proven FROM password WHERE user_id = $1 AND (${isUsed}) ORDER BY id`,
};
const insert = {
  name: 'add-password',
  text: `INSERT INTO password (id, user_id, hash, proven, set_at) VALUES ($3, $4, $5, $6, ${now})`,
};
const prove = { name: 'prove-password', text: 'UPDATE password SET proven = true WHERE id = $1' };
const proveMemberships = {
  name: 'prove-memberships',
  text: 'UPDATE member SET password_id = NULL WHERE password_id = $1',
};
// Keys that the operator made have no maker: they did not come from a session of these passwords.
const close = {
  name: 'close-memberships-of-passwords',
  text: `WITH closed AS (
      UPDATE member SET opened_at = NULL, password_id = NULL WHERE password_id = ANY($4)
      RETURNING organization_id
    ), revoked AS (
      UPDATE api_key SET revoked_at = ${now} FROM closed
      WHERE api_key.organization_id = closed.organization_id AND user_id = $3 AND created_by IS NOT NULL
        AND ${keyIsLive(now)}
    )
    SELECT organization_id FROM closed`,
};
const remove = { name: 'remove-passwords', text: 'DELETE FROM password WHERE id = ANY($1)' };
const forgetUnused = {
  name: 'forget-unused-passwords',
  text: `DELETE FROM password WHERE user_id = $1 AND NOT (${isUsed})`,
};

/** Those that can be signed in with, oldest first. */
export const passwordsOf = (run: Run, userId: UserId) => run<Password & { id: PasswordId }>(select, [userId]);

export async function addPassword(
  run: Run,
  time: StoreTime,
  userId: UserId,
  { id, hash, proven }: Password,
): Promise<void> {
  await run(insert, [...time.parameters(), id, userId, hash, proven]);
}

/** Proves the password and the memberships accepted with it. */
export async function provePassword(run: Run, id: PasswordId): Promise<void> {
  await run(prove, [id]);
  await run(proveMemberships, [id]);
}

/** Ends passwords with their sessions and closes the memberships accepted with them; answers where. */
export async function voidPasswords(
  run: Run,
  time: StoreTime,
  userId: UserId,
  passwords: readonly Password[],
): Promise<OrganizationId[]> {
  if (passwords.length === 0) return [];
  const ids = passwords.map(({ id }) => id);
  const closed = await run<{ organization_id: OrganizationId }>(close, [...time.parameters(), userId, ids]);
  await run(remove, [ids]);
  return closed.map(({ organization_id }) => organization_id);
}

/** Forgets unproven ones that no membership was accepted with. */
export async function forgetUnusedPasswords(run: Run, userId: UserId): Promise<void> {
  await run(forgetUnused, [userId]);
}
