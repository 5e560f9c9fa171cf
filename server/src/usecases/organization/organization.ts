import type { Initiator } from '../../domain/audit.ts';
import type { OperatorAuthority, OwnAuthority } from '../../domain/authority.ts';
import { checkName } from '../../domain/check-name.ts';
import { notFound, organizationNotFound } from '../../domain/errors.ts';
import type { IdGenerator, OrganizationId } from '../../domain/id.ts';
import type { Limits } from '../../domain/limits.ts';
import type { Organization } from '../../domain/organization.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import type { Store } from '../../storage/port/store.ts';
import { auditNote, type Change } from '../audit-note.ts';
import type { Authorize } from '../authorize.ts';

interface OrganizationNeeds {
  readonly store: Pick<
    Store,
    | 'createOrganization'
    | 'updateOrganization'
    | 'findOrganization'
    | 'listOrganizations'
    | 'beginWalk'
    | 'outlineDocuments'
    | 'listApiKeys'
    | 'listMembers'
  >;
  readonly ids: Pick<IdGenerator, 'event' | 'organization'>;
  readonly limits: Pick<Limits, 'dailyQuota'>;
  readonly authorize: Authorize;
}

export type Organizations = ReturnType<typeof createOrganizations>;

export function createOrganizations({ store, ids, limits, authorize }: OrganizationNeeds) {
  return { create, change, find, list, readFirstSteps };

  async function create(
    initiator: Initiator<OperatorAuthority | OwnAuthority>,
    settings: { name: string; apiEnabled?: boolean | undefined; dailyQuota?: number | undefined },
  ): Promise<OrganizationId> {
    const { name, apiEnabled = true, dailyQuota = limits.dailyQuota } = settings;
    checkName("The organization's name", name, 1);
    const id = ids.organization();
    const organization = { name, apiEnabled, dailyQuota };
    const note = auditNote(ids, initiator, 'organization.created', id, organization);
    await store.createOrganization({ id, ...organization }, note);
    return id;
  }

  /** Takes effect on every node with its next request. */
  async function change(
    { organizationId, initiator }: Change,
    settings: { apiEnabled?: boolean; dailyQuota?: number },
  ): Promise<void> {
    const note = auditNote(ids, initiator, 'organization.changed', organizationId, { ...settings });
    const write = store.updateOrganization(organizationId, settings, note);
    const changed = await authorize(note.authority, write);
    if (changed === undefined) throw organizationNotFound();
  }

  async function find(idOrName: string): Promise<Organization> {
    const organization = await store.findOrganization(idOrName);
    if (organization !== undefined) return organization;
    const ids = (await store.listOrganizations()).flatMap(({ id, name }) => (name === idOrName ? [id] : []));
    throw notFound(
      ids.length === 0
        ? `No organization has the name or id ${idOrName}: run 'skein org list' to see all of them.`
        : `${ids.length} organizations are called ${idOrName}: use an id instead of the name. Run 'skein org list' to see the ids.`,
    );
  }

  function list(): Promise<Organization[]> {
    return store.listOrganizations();
  }

  /** The first steps that an admin of a new organization has taken. The console asks until all are taken, so the lists are short. */
  async function readFirstSteps({ organizationId, userId }: UserPrincipal) {
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
}
