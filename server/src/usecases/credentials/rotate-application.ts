import type { Initiator } from '../../domain/audit.ts';
import { generateClientSecret } from '../../domain/credential.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';
import { apiDisabled } from '../organization/organization.ts';
import { applicationNotFound } from './application-not-found.ts';
import { findApplication } from './find-application.ts';

/** A new secret, shown this once. The old one, and every token issued under it, are void once this resolves (§5.8). */
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
