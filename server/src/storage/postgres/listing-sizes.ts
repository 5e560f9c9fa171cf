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

/** The size of a listing: the published threads and, of the user's own, those that are not. */
export function sizeExpression(ofUser: boolean): string {
  const one = (amount: string, user: string) => `coalesce((SELECT ${amount} FROM listing_size
    WHERE organization_id = $1 AND user_id = ${user} AND account_key = $4), 0)`;
  const published = one('published', "''");
  return ofUser ? `${published} + ${one('threads - published', '$2')}` : published;
}
