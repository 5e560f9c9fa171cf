import type { OrganizationId } from '../../domain/id.ts';
import { keyIsLive } from '../sql/api-keys.ts';
import type { Writer } from '../store.ts';
import type { Database } from './database.ts';

/** Checks the writer's key again. To be called in the transaction of the write. */
export function prepareMayWrite(
  database: Database,
): (organizationId: OrganizationId, writer: Writer, now: number) => boolean {
  const find = database.prepare(
    `SELECT 1 FROM api_key JOIN organization ON organization.id = organization_id
     WHERE hash = :keyHash AND organization_id = :organizationId AND user_id = :userId AND ${keyIsLive}
       AND api_enabled = 1`,
  );
  return (organizationId, { userId, keyHash }, now) =>
    keyHash === null || find.get({ keyHash, organizationId, userId, now }) !== undefined;
}
