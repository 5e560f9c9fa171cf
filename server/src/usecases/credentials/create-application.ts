import type { Initiator } from '../../domain/audit.ts';
import { generateClientSecret } from '../../domain/credential.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { ApplicationId, OrganizationId } from '../../domain/id.ts';
import { nameFault } from '../../domain/text.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';
import { apiDisabled, organizationNotFound } from '../organization/organization.ts';

/** The secret is returned here and nowhere else: only its hash is kept. */
export async function createApplication(
  context: Context,
  organizationId: OrganizationId,
  initiator: Initiator,
  name: string,
): Promise<{ id: ApplicationId; clientSecret: string }> {
  const fault = nameFault(name, 1, 255);
  if (fault !== undefined) throw new ServiceError('INVALID_PARAMS', `The application's name ${fault}.`);
  const { store, ids, randomBytes, crc32, sha256 } = context;
  const id = ids.application();
  const clientSecret = generateClientSecret(randomBytes, crc32);
  const secretHash = sha256(clientSecret);
  const note = auditNote(context, initiator, 'application.created', id, { name });
  const outcome = await store.createApplication(organizationId, { id, name, secretHash }, note);
  if (outcome === 'api-disabled') throw apiDisabled(organizationId, initiator);
  if (outcome === 'organization-missing') throw organizationNotFound(organizationId);
  return { id, clientSecret };
}
