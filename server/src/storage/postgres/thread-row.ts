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
