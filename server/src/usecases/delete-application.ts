import type { ApplicationId, OrganizationId } from '../domain/id.ts';
import { applicationNotFound } from './application-not-found.ts';
import type { Context } from './context.ts';

/** Its secret, and every token issued under it, are void once this resolves (§5.8). */
export async function deleteApplication(
  { store }: Context,
  organizationId: OrganizationId,
  applicationId: string,
): Promise<void> {
  const outcome = await store.deleteApplication(organizationId, applicationId as ApplicationId);
  if (outcome === 'missing') throw applicationNotFound(applicationId);
}
