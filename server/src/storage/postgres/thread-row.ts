import { keyIsLive } from '../sql/api-keys.ts';
import { opaque, type Sql, sql } from '../sql/sql.ts';

/** A condition on a thread that a join finds by its id. */
export const isOwnThread = (call: Sql) =>
  opaque(sql`deleted_at IS NULL AND thread.user_id = ${call}.user_id`);

/**
 * A condition on a call (`asked`) and its organization's row, which `gate` has locked: a write with an API key needs the API
 * enabled and the key live. The key is read after the wait for the row and locked until the commit, so that a revocation
 * committed in the meantime counts. Only one batch of an organization holds the row at a time.
 */
export const isGranted = (gate: Sql) => sql`(asked.key_hash IS NULL OR ${gate}.api_enabled AND EXISTS (
        SELECT FROM api_key WHERE hash = asked.key_hash AND organization_id = ${gate}.gate_id
          AND user_id = asked.user_id AND ${keyIsLive} FOR SHARE))`;

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
