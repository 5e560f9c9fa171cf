import type { OrganizationId } from '../../domain/id.ts';
import type { Writer } from '../store.ts';
import { keyIsLive } from './api-keys.ts';
import type { Database } from './database.ts';

/** Checks the writer's key again. To be called in the transaction of the write. */
export function prepareMayWrite(
  database: Database,
): (organizationId: OrganizationId, writer: Writer, now: number) => boolean {
  const find = database.prepare<[string, string, string, number]>(
    `SELECT 1 FROM api_key JOIN organization ON organization.id = organization_id
     WHERE hash = ? AND organization_id = ? AND user_id = ? AND ${keyIsLive} AND api_enabled = 1`,
  );
  return (organizationId, { userId, keyHash }, now) =>
    keyHash === null || find.get(keyHash, organizationId, userId, now) !== undefined;
}
