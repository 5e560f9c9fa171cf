import type { Initiator } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { OrganizationId } from '../../domain/id.ts';
import { nameFault } from '../../domain/text.ts';
import type { Context } from '../context.ts';
import { auditNote } from './audit-note.ts';

export async function createOrganization(
  context: Context,
  initiator: Initiator,
  {
    name,
    apiEnabled = true,
    dailyQuota = context.limits.dailyQuota,
  }: {
    name: string;
    apiEnabled?: boolean | undefined;
    dailyQuota?: number | undefined;
  },
): Promise<OrganizationId> {
  const fault = nameFault(name, 1, 255);
  if (fault !== undefined) throw new ServiceError('INVALID_PARAMS', `The organization's name ${fault}.`);
  const { store, ids } = context;
  const id = ids.organization();
  const organization = { name, apiEnabled, dailyQuota };
  const note = auditNote(context, initiator, 'organization.created', id, organization);
  await store.createOrganization({ id, ...organization }, note);
  return id;
}
