import type { OrganizationId } from '../../domain/id.ts';
import { quotaResetAt, utcDay } from '../../domain/quota.ts';
import type { Context } from '../context.ts';
import { type KeyOwners, listApiKeys } from '../credentials/api-keys.ts';
import { organizationNotFound } from './organization.ts';

export interface NamedCredential {
  readonly id: string;
  readonly kind: 'key' | 'application';
  /** Its name, or its id if it was deleted. */
  readonly name: string;
}

/**
 * Today's quota, and the requests of the last `days`, including today. A member sees only requests of their own keys.
 * Requests of the last second may be missing.
 */
export async function readUsage(
  context: Context,
  organizationId: OrganizationId,
  owners: KeyOwners,
  days: number,
) {
  const { store } = context;
  const now = context.now();
  const lastDay = utcDay(now);
  const firstDay = lastDay - days + 1;
  const [quota, counts, names] = await Promise.all([
    store.readQuota(organizationId, lastDay),
    store.listUsage(organizationId, firstDay, lastDay),
    listCredentials(context, organizationId, owners),
  ]);
  if (quota === undefined) throw organizationNotFound(organizationId);
  return {
    quota: { ...quota, resetsAt: quotaResetAt(now) },
    firstDay,
    lastDay,
    counts: counts.flatMap((count) => {
      const credential = names.get(count.credentialId) ?? deletedApplication(count.credentialId);
      return owners === 'all' || names.has(count.credentialId) ? [{ ...count, credential }] : [];
    }),
  };
}

/** Names every credential of the organization, also deleted ones. */
export async function nameCredentials(
  context: Context,
  organizationId: OrganizationId,
): Promise<(credentialId: string) => NamedCredential> {
  const names = await listCredentials(context, organizationId, 'all');
  return (id) => names.get(id) ?? deletedApplication(id);
}

async function listCredentials(
  context: Context,
  organizationId: OrganizationId,
  owners: KeyOwners,
): Promise<Map<string, NamedCredential>> {
  const keys = await listApiKeys(context, organizationId, owners);
  const applications = owners === 'all' ? await context.store.listApplications(organizationId) : [];
  return new Map<string, NamedCredential>([
    ...keys.map(({ id, name, hint }) => [id, { id, kind: 'key', name: name || hint }] as const),
    ...applications.map(({ id, name }) => [id, { id, kind: 'application', name }] as const),
  ]);
}

/** Keys are never deleted, so an unknown id belongs to a deleted application. */
function deletedApplication(id: string): NamedCredential {
  return { id, kind: 'application', name: id };
}
