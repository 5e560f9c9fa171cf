import type { Initiator } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Context } from '../context.ts';
import { auditNote, withCommand } from '../organization/audit-log.ts';
import type { KeyOwners } from './key-owner.ts';
import { listApiKeys } from './list-api-keys.ts';

/**
 * From the moment this resolves the key gets 401, in every process (§5.8). A key that is not one of these owners' is not
 * there.
 */
export async function revokeApiKey(
  context: Context,
  organizationId: OrganizationId,
  initiator: Initiator,
  keyId: string,
  owners: KeyOwners = 'all',
): Promise<void> {
  const keys = await listApiKeys(context, organizationId, owners);
  const key = keys.find(({ id }) => id === keyId);
  if (key === undefined) throw keyNotFound(organizationId, initiator, keyId);
  const { id, name, hint } = key;
  const note = auditNote(context, initiator, 'key.revoked', id, { name, hint });
  const outcome = await context.store.revokeApiKey(organizationId, id, note);
  if (outcome === 'missing') throw keyNotFound(organizationId, initiator, keyId);
}

export function keyNotFound(
  organizationId: OrganizationId,
  initiator: Initiator,
  keyId: string,
): ServiceError {
  const fact = `The organization has no key ${keyId}`;
  return new ServiceError(
    'NOT_FOUND',
    withCommand(initiator, fact, `'skein key list ${organizationId}' shows its keys`),
  );
}
