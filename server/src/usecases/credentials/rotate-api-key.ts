import type { Initiator } from '../../domain/audit.ts';
import { apiKeyHint, generateApiKey } from '../../domain/credential.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { KeyId, OrganizationId, UserId } from '../../domain/id.ts';
import { iso } from '../../domain/iso-time.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';
import { apiDisabled } from '../organization/organization.ts';
import { assertMayOwnKey, type KeyOwners } from './key-owner.ts';
import { listApiKeys } from './list-api-keys.ts';
import { keyNotFound } from './revoke-api-key.ts';

/** How long the old key goes on working. */
export const rotationGraces = { now: 0, '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const;
export type RotationGrace = keyof typeof rotationGraces;

/**
 * A new key in the place of this one, with its name and owner; it is returned here and nowhere else. Whoever may make a
 * key for the owner may rotate theirs: an admin sees no key of another person.
 */
export async function rotateApiKey(
  context: Context,
  organizationId: OrganizationId,
  initiator: Initiator,
  keyId: string,
  { owners, oldValidFor }: { owners: KeyOwners; oldValidFor: RotationGrace },
): Promise<{ id: KeyId; key: string; userId: UserId | null }> {
  const { store, ids, now, randomBytes, crc32, sha256 } = context;
  const old = (await listApiKeys(context, organizationId, owners)).find(({ id }) => id === keyId);
  if (old === undefined) throw keyNotFound(organizationId, initiator, keyId);
  const { userId, name } = old;
  const owner = userId === null ? null : await store.findMemberById(organizationId, userId);
  if (owner === undefined) throw ended();
  if (owner !== null) assertMayOwnKey(initiator, owner);
  const key = generateApiKey(randomBytes, crc32);
  const next = { id: ids.key(), hash: sha256(key), hint: apiKeyHint(key) };
  const oldValidMs = rotationGraces[oldValidFor];
  const createdBy = initiator.actor.kind === 'user' ? initiator.actor.userId : null;
  const detail = { name, hint: next.hint, successor: next.id, oldValidUntil: iso(now() + oldValidMs) };
  const note = auditNote(context, initiator, 'key.rotated', old.id, detail);
  const rotation = { next, createdBy, oldValidMs };
  switch (await store.rotateApiKey(organizationId, old.id, rotation, note)) {
    case 'rotated':
      return { id: next.id, key, userId };
    case 'missing':
      throw keyNotFound(organizationId, initiator, keyId);
    case 'revoked':
      throw ended();
    case 'api-disabled':
      throw apiDisabled(organizationId, initiator);
  }
}

function ended(): ServiceError {
  return new ServiceError('INVALID_PARAMS', 'The key was rotated or revoked before: create a new one.');
}
