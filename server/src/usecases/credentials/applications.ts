import type { Initiator } from '../../domain/audit.ts';
import { type Application, generateClientSecret } from '../../domain/credential.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { ApplicationId, OrganizationId } from '../../domain/id.ts';
import { nameFault } from '../../domain/text.ts';
import type { Context } from '../context.ts';
import { auditNote, withCommand } from '../organization/audit-log.ts';
import { apiDisabled, organizationNotFound } from '../organization/organization.ts';

/** Returns the secret this once: only its hash is stored. */
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

/** Returns a new secret this once. The old one and every token issued under it are void once this resolves (§5.8). */
export async function rotateApplication(
  context: Context,
  organizationId: OrganizationId,
  initiator: Initiator,
  applicationId: string,
): Promise<{ clientSecret: string }> {
  const { store, randomBytes, crc32, sha256 } = context;
  const { id, name } = await findApplication(context, organizationId, initiator, applicationId);
  const clientSecret = generateClientSecret(randomBytes, crc32);
  const note = auditNote(context, initiator, 'application.rotated', id, { name });
  const outcome = await store.rotateApplication(organizationId, id, sha256(clientSecret), note);
  if (outcome === 'api-disabled') throw apiDisabled(organizationId, initiator);
  if (outcome === 'missing') throw applicationNotFound(applicationId, initiator);
  return { clientSecret };
}

/** The secret and every token issued under it are void once this resolves (§5.8). */
export async function deleteApplication(
  context: Context,
  organizationId: OrganizationId,
  initiator: Initiator,
  applicationId: string,
): Promise<void> {
  const { id, name } = await findApplication(context, organizationId, initiator, applicationId);
  const note = auditNote(context, initiator, 'application.deleted', id, { name });
  const outcome = await context.store.deleteApplication(organizationId, id, note);
  if (outcome === 'missing') throw applicationNotFound(applicationId, initiator);
}

async function findApplication(
  { store }: Context,
  organizationId: OrganizationId,
  initiator: Initiator,
  applicationId: string,
): Promise<Application> {
  const application = await store.findApplication(organizationId, applicationId);
  if (application === undefined) throw applicationNotFound(applicationId, initiator);
  return application;
}

function applicationNotFound(applicationId: string, initiator: Initiator): ServiceError {
  const fact = `The organization has no application ${applicationId}`;
  return new ServiceError('NOT_FOUND', withCommand(initiator, fact, "'skein app list' shows those it has"));
}

/** In order of creation. */
export function listApplications({ store }: Context, organizationId: OrganizationId): Promise<Application[]> {
  return store.listApplications(organizationId);
}
