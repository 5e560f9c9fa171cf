import { accountKey, accountOfKey, emptyAccountsMax } from '../account-key.ts';
import type { Threads } from '../store.ts';
import type { Run } from './database.ts';

/**
 * Keeps the sizes in step, as a part of the statement that changes a thread. `changed` is a relation of one row or none,
 * with the thread's user_id and account_id and by how much `threads` and `published` change.
 */
export function adjustSizes(organizationId: string, changed: string): string {
  return `INSERT INTO listing_size AS size (organization_id, user_id, account_key, threads, published)
    SELECT ${organizationId}, row_user, row_account, sum(row_threads), sum(row_published) FROM ${changed} AS changed
    CROSS JOIN LATERAL unnest(
      CASE WHEN account_id IS NULL THEN ARRAY[''] ELSE ARRAY['', '=' || account_id] END) AS row_account
    -- Everyone's row counts what is published, and so changes with that only.
    CROSS JOIN LATERAL (VALUES (user_id, changed.threads, changed.published), ('', 0, changed.published))
      AS part (row_user, row_threads, row_published)
    WHERE row_user <> '' OR row_published <> 0
    GROUP BY row_user, row_account
    -- Always in the same order: two that change the same rows never wait for each other in a circle.
    ORDER BY row_user, row_account
    ON CONFLICT (organization_id, user_id, account_key)
    DO UPDATE SET threads = size.threads + excluded.threads, published = size.published + excluded.published`;
}

/** Which threads a listing counts: the published ones, the user's, or both. */
export type Counted = 'published' | 'mine' | 'own';

/** The size of a listing as an SQL expression. */
export function sizeExpression(counted: Counted): string {
  const one = (amount: string, user: string) => `coalesce((SELECT ${amount} FROM listing_size
    WHERE organization_id = $1 AND user_id = ${user} AND account_key = $4), 0)`;
  const published = one('published', "''");
  if (counted === 'mine') return one('threads', '$2');
  return counted === 'own' ? `${published} + ${one('threads - published', '$2')}` : published;
}

const looked = (user: string) => `SELECT * FROM (SELECT * FROM listing_size
  WHERE organization_id = $1 AND user_id = ${user} AND account_key >= $3
  ORDER BY account_key LIMIT $4::bigint + ${emptyAccountsMax}) AS looked`;
const list = {
  name: 'list-accounts',
  text: `SELECT account_key FROM (${looked('$2')} WHERE threads > 0
      UNION ALL ${looked("''")} WHERE published > 0) AS account
    WHERE starts_with(account_key, $3) GROUP BY account_key ORDER BY account_key LIMIT $4`,
};

export function listAccounts(run: Run): Threads['listAccounts'] {
  return async (organizationId, userId, prefix, limit) => {
    const values = [organizationId, userId, accountKey(prefix), limit];
    const rows = await run<{ account_key: string }>(list, values);
    return rows.map(({ account_key }) => accountOfKey(account_key)!);
  };
}
