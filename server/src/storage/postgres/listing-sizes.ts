import { accountKey, accountOfKey, emptyAccountsMax } from '../account-key.ts';
import { type Sql, sql, statement } from '../sql/sql.ts';
import type { Threads } from '../store.ts';
import type { Run } from './database.ts';

/**
 * Updates the sizes of listings in the statement that changes a thread. `changed` has one row or none, with the thread's
 * user_id and account_id and by how much `threads` and `published` change.
 */
export const adjustSizes = (changed: Sql) => sql`
      INSERT INTO listing_size AS size (organization_id, user_id, account_key, threads, published)
      SELECT :organizationId, row_user, row_account, sum(row_threads), sum(row_published) FROM ${changed} AS changed
      CROSS JOIN LATERAL unnest(
        CASE WHEN account_id IS NULL THEN ARRAY[''] ELSE ARRAY['', '=' || account_id] END) AS row_account
      -- The row of all users counts published threads only.
      CROSS JOIN LATERAL (VALUES (user_id, changed.threads, changed.published), ('', 0, changed.published))
        AS part (row_user, row_threads, row_published)
      WHERE row_user <> '' OR row_published <> 0
      GROUP BY row_user, row_account
      -- Always in the same order, so that two statements that change the same rows cannot deadlock.
      ORDER BY row_user, row_account
      ON CONFLICT (organization_id, user_id, account_key)
      DO UPDATE SET threads = size.threads + excluded.threads, published = size.published + excluded.published`;

const sizeOf = (amount: Sql, user: Sql) => sql`coalesce((SELECT ${amount} FROM listing_size
      WHERE organization_id = :organizationId AND user_id = ${user} AND account_key = :accountKey), 0)`;

/** Sizes as expressions: of the published threads, of the user's own, and of both together. */
export const publishedSize = sizeOf(sql`published`, sql`''`);
export const mineSize = sizeOf(sql`threads`, sql`:userId`);
export const ownSize = sql`${publishedSize} + ${sizeOf(sql`threads - published`, sql`:userId`)}`;

const accountsOf = (user: Sql) => sql`SELECT * FROM (SELECT * FROM listing_size
    WHERE organization_id = :organizationId AND user_id = ${user} AND account_key >= :prefix
    ORDER BY account_key LIMIT :limit::bigint + ${emptyAccountsMax}) AS scanned`;
const list = statement('list-accounts')`SELECT account_key AS "accountKey" FROM (
    ${accountsOf(sql`:userId`)} WHERE threads > 0 UNION ALL ${accountsOf(sql`''`)} WHERE published > 0) AS account
  WHERE starts_with(account_key, :prefix) GROUP BY account_key ORDER BY account_key LIMIT :limit`;

export function listAccounts(run: Run): Threads['listAccounts'] {
  return async (organizationId, userId, prefix, limit) => {
    const values = { organizationId, userId, prefix: accountKey(prefix), limit };
    const rows = await run<{ accountKey: string }>(list, values);
    return rows.map((row) => accountOfKey(row.accountKey)!);
  };
}
