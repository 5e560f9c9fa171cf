import type { OrganizationId } from '../../domain/id.ts';
import type { Writer } from '../store.ts';
import { keyIsLive } from './api-keys.ts';
import type { Database } from './database.ts';
import { now } from './store-time.ts';

/** A condition on the row of `organization`, which the write locks: with a key, it must be in the beta. */
export const apiOpen = (keyHash: string) => `(${keyHash}::text IS NULL OR api_enabled)`;

/**
 * Part of a statement that writes by key (organization $3, user $5): the row of `gate`, which holds the organization's
 * row as `gate_id`, if the key is still live. The key is read after the wait for that row and held until the commit, so
 * that a revocation that was committed meanwhile counts. One write of an organization holds it at a time.
 */
export function grantedText(gate: string, keyHash: string): string {
  return `granted AS (
      SELECT ${gate}.* FROM ${gate} WHERE ${keyHash}::text IS NULL OR EXISTS (
        SELECT FROM api_key WHERE hash = ${keyHash} AND organization_id = gate_id AND user_id = $5
          AND ${keyIsLive(now)} FOR SHARE)
    )`;
}

const live = {
  name: 'may-write',
  text: `SELECT 1 FROM api_key JOIN organization ON organization.id = organization_id
    WHERE hash = $3 AND organization_id = $4 AND user_id = $5 AND ${keyIsLive(now)} AND api_enabled`,
};

/** Why a write has changed nothing: asked after the fact. */
export function isRevoked({
  run,
  time,
}: Database): (organizationId: OrganizationId, writer: Writer) => Promise<boolean> {
  return async (organizationId, { userId, keyHash }) =>
    keyHash !== null &&
    (await run(live, [...time.parameters(), keyHash, organizationId, userId])).length === 0;
}
