import type { OrganizationId, ThreadId } from '../../domain/id.ts';
import type { Thread } from '../../domain/thread.ts';
import { keyIsLive } from '../sql/api-keys.ts';
import { type Sql, sql, statement } from '../sql/sql.ts';
import type { Writer } from '../store.ts';
import type { Run } from './database.ts';
import { findThread } from './thread-row.ts';

/** A condition on the organization's row, which the write locks: a write with an API key needs the API enabled. */
export const isApiOpen = sql`(:keyHash::text IS NULL OR api_enabled)`;

/**
 * Part of a statement that may write with an API key: the row of `gate`, which holds the organization's row as `gate_id`,
 * if the key is still live. The key is read after the wait for the organization's row and locked until the commit, so
 * that a revocation committed in the meantime counts. Only one write of an organization holds the row at a time.
 */
export const granted = (gate: Sql) => sql`granted AS (
      SELECT ${gate}.* FROM ${gate} WHERE :keyHash::text IS NULL OR EXISTS (
        SELECT FROM api_key WHERE hash = :keyHash AND organization_id = gate_id AND user_id = :userId
          AND ${keyIsLive} FOR SHARE)
    )`;

const findLive = statement('may-write')`
  SELECT 1 FROM api_key JOIN organization ON organization.id = organization_id
  WHERE hash = :keyHash AND organization_id = :organizationId AND user_id = :userId AND ${keyIsLive} AND api_enabled`;

/** Asked after a write that has changed nothing, to find out why. */
export async function isRevoked(
  run: Run,
  organizationId: OrganizationId,
  { userId, keyHash }: Writer,
): Promise<boolean> {
  return keyHash !== null && (await run(findLive, { keyHash, organizationId, userId })).length === 0;
}

/** The outcome of a write to a thread that has changed nothing. */
export async function outcomeOfNoWrite(
  run: Run,
  organizationId: OrganizationId,
  threadId: ThreadId,
  writer: Writer,
): Promise<{ outcome: 'revoked' | 'missing' } | { outcome: 'refused'; thread: Thread }> {
  if (await isRevoked(run, organizationId, writer)) return { outcome: 'revoked' };
  const thread = await findThread(run, organizationId, threadId);
  return thread ? { outcome: 'refused', thread } : { outcome: 'missing' };
}
