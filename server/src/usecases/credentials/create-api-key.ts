import type { Initiator } from '../../domain/audit.ts';
import { apiKeyHint, generateApiKey } from '../../domain/credential.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { KeyId, OrganizationId, UserId } from '../../domain/id.ts';
import { nameFault } from '../../domain/text.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';
import { apiDisabled, organizationNotFound } from '../organization/organization.ts';
import { findMemberById } from '../people/find-member.ts';
import { assertMayOwnKey } from './key-owner.ts';

/** The key itself is returned here and nowhere else: only its hash is kept. Without an owner it is org-wide. */
export async function createApiKey(
  context: Context,
  organizationId: OrganizationId,
  initiator: Initiator,
  { userId, name }: { userId: string | null; name: string },
): Promise<{ id: KeyId; key: string }> {
  const fault = nameFault(name, 0, 255);
  if (fault !== undefined) throw new ServiceError('INVALID_PARAMS', `The key's name ${fault}.`);
  const owner = userId === null ? null : await findMemberById(context, organizationId, userId);
  if (owner !== null) assertMayOwnKey(initiator, owner);
  const { store, ids, randomBytes, crc32, sha256 } = context;
  const id = ids.key();
  const key = generateApiKey(randomBytes, crc32);
  const hint = apiKeyHint(key);
  const detail = { name, hint, scope: owner ? 'personal' : 'org-wide', owner: owner?.email ?? null };
  const outcome = await store.createApiKey(
    organizationId,
    { id, name, userId: owner?.userId ?? null, hash: sha256(key), hint, createdBy: creatorOf(initiator) },
    auditNote(context, initiator, 'key.created', id, detail),
  );
  if (outcome !== 'created') throw refusal(outcome, organizationId, initiator);
  return { id, key };
}

function creatorOf({ actor }: Initiator): UserId | null {
  return actor.kind === 'user' ? actor.userId : null;
}

function refusal(
  outcome: 'organization-missing' | 'api-disabled' | 'not-a-member',
  organizationId: OrganizationId,
  initiator: Initiator,
): ServiceError {
  switch (outcome) {
    case 'organization-missing':
      return organizationNotFound(organizationId);
    case 'api-disabled':
      return apiDisabled(organizationId, initiator);
    case 'not-a-member':
      return new ServiceError(
        'NOT_FOUND',
        'The owner of a personal key must be a member of the organization.',
      );
  }
}
