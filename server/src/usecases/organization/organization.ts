import type { Initiator } from '../../domain/audit.ts';
import type { OperatorAuthority, OwnAuthority } from '../../domain/authority.ts';
import { checkName } from '../../domain/check-name.ts';
import {
  forbidden,
  invalid,
  notFound,
  organizationNotFound,
  type ServiceError,
} from '../../domain/errors.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Organization } from '../../domain/organization.ts';
import { authorize } from '../authorize.ts';
import type { Context, PersonCall } from '../context.ts';
import { auditNote, type Change, withCommand } from './audit-log.ts';

export async function createOrganization(
  context: Context,
  initiator: Initiator<OperatorAuthority | OwnAuthority>,
  settings: { name: string; apiEnabled?: boolean | undefined; dailyQuota?: number | undefined },
): Promise<OrganizationId> {
  const { name, apiEnabled = true, dailyQuota = context.limits.dailyQuota } = settings;
  checkName("The organization's name", name, 1);
  const { store, ids } = context;
  const id = ids.organization();
  const organization = { name, apiEnabled, dailyQuota };
  const note = auditNote({ context, initiator }, 'organization.created', id, organization);
  await store.createOrganization({ id, ...organization }, note);
  return id;
}

/** Takes effect on every node with its next request. */
export async function changeOrganization(
  change: Change,
  settings: { apiEnabled?: boolean; dailyQuota?: number },
): Promise<void> {
  const { context, organizationId } = change;
  const note = auditNote(change, 'organization.changed', organizationId, { ...settings });
  const write = context.store.updateOrganization(organizationId, settings, note);
  const changed = await authorize(context, note.authority, write);
  if (changed === undefined) throw organizationNotFound();
}

export async function findOrganization({ store }: Context, idOrName: string): Promise<Organization> {
  const organization = await store.findOrganization(idOrName);
  if (organization !== undefined) return organization;
  const ids = (await store.listOrganizations()).flatMap(({ id, name }) => (name === idOrName ? [id] : []));
  throw notFound(
    ids.length === 0
      ? `No organization has the name or id ${idOrName}: run 'skein org list' to see all of them.`
      : `${ids.length} organizations are called ${idOrName}: use an id instead of the name. Run 'skein org list' to see the ids.`,
  );
}

export function listOrganizations({ store }: Context): Promise<Organization[]> {
  return store.listOrganizations();
}

/** Why no credential was issued. Only organizations for which the public API is enabled get credentials (§1). */
export function notIssued(
  { organizationId, initiator }: Pick<Change, 'organizationId' | 'initiator'>,
  outcome: 'api-disabled' | 'organization-missing' | 'too-many',
  tooMany = '',
): ServiceError {
  if (outcome === 'organization-missing') return organizationNotFound();
  if (outcome === 'too-many') return invalid(tooMany);
  const fact = `The public API is not enabled for ${organizationId}`;
  const command = `'skein org set ${organizationId} --api on' enables it`;
  return forbidden(withCommand(initiator, fact, command));
}

/** The first steps that an admin of a new organization has taken. The console asks until all are taken, so the lists are short. */
export async function readFirstSteps({ context: { store }, principal }: PersonCall) {
  const { organizationId, userId } = principal;
  const [threads, documents, keys, members] = await Promise.all([
    store.beginWalk(organizationId, { userId, ownOnly: true }, 1),
    store.outlineDocuments(organizationId, null, 1),
    store.listApiKeys(organizationId),
    store.listMembers(organizationId),
  ]);
  return {
    asked: threads.rows.length > 0,
    hasDocument: documents.length > 0,
    hasKey: keys.length > 0,
    hasInvited: members.length > 1,
  };
}
