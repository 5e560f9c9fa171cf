import type { Password } from '../../domain/account.ts';
import type { OrganizationId, PasswordId, UserId } from '../../domain/id.ts';
import { keyIsLive } from './api-keys.ts';
import { type Database, type Stored, withFlags } from './database.ts';

/** What several methods do with passwords in their transactions. */
export interface PasswordTable {
  /** The passwords that can be used to sign in, oldest first. */
  of(userId: UserId): Password[];
  add(userId: UserId, password: Password, now: number): void;
  /** Marks the password and the memberships accepted with it as proven. */
  prove(id: PasswordId): void;
  /** Removes passwords and their sessions, and closes the memberships accepted with them. Returns their organizations. */
  void(userId: UserId, passwords: readonly Password[], now: number): OrganizationId[];
  /** Removes unproven passwords that no membership was accepted with. */
  removeUnused(userId: UserId): void;
}

export function passwordTable(database: Database): PasswordTable {
  const isUsed = 'proven = 1 OR EXISTS (SELECT 1 FROM member WHERE member.password_id = password.id)';
  const select = database.prepare<[string], Stored<Password>>(
    `SELECT id, hash, proven FROM password WHERE user_id = ? AND (${isUsed}) ORDER BY id`,
  );
  const insert = database.prepare<[string, string, string, number, number]>(
    'INSERT INTO password (id, user_id, hash, proven, set_at) VALUES (?, ?, ?, ?, ?)',
  );
  const prove = database.prepare<[string]>('UPDATE password SET proven = 1 WHERE id = ?');
  const proveMemberships = database.prepare<[string]>(
    'UPDATE member SET password_id = NULL WHERE password_id = ?',
  );
  const close = database
    .prepare<[string], OrganizationId>(
      'UPDATE member SET opened_at = NULL, password_id = NULL WHERE password_id = ? RETURNING organization_id',
    )
    .pluck();
  // Keys made by the operator have no creator: they do not come from a session of this password.
  const revokeKeys = database.prepare<[number, string, string, number]>(
    `UPDATE api_key SET revoked_at = ?
     WHERE organization_id = ? AND user_id = ? AND created_by IS NOT NULL AND ${keyIsLive}`,
  );
  const remove = database.prepare<[string]>('DELETE FROM password WHERE id = ?');
  const removeUnused = database.prepare<[string]>(
    `DELETE FROM password WHERE user_id = ? AND NOT (${isUsed})`,
  );

  return {
    of: (userId) => select.all(userId).map((row) => withFlags<Password>(row, 'proven')),

    add(userId, { id, hash, proven }, now) {
      insert.run(id, userId, hash, Number(proven), now);
    },

    prove(id) {
      prove.run(id);
      proveMemberships.run(id);
    },

    void(userId, passwords, now) {
      return passwords.flatMap(({ id }) => {
        const closed = close.all(id);
        for (const organizationId of closed) revokeKeys.run(now, organizationId, userId, now);
        remove.run(id);
        return closed;
      });
    },

    removeUnused(userId) {
      removeUnused.run(userId);
    },
  };
}
