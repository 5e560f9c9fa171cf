import type { Initiator } from '../../domain/audit.ts';
import type { Application } from '../../domain/credential.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Context } from '../context.ts';
import { applicationNotFound } from './application-not-found.ts';

export async function findApplication(
  { store }: Context,
  organizationId: OrganizationId,
  initiator: Initiator,
  applicationId: string,
): Promise<Application> {
  const applications = await store.listApplications(organizationId);
  const application = applications.find(({ id }) => id === applicationId);
  if (application === undefined) throw applicationNotFound(applicationId, initiator);
  return application;
}
