import type { UserPrincipal } from '../../domain/principal.ts';
import type { Context } from '../context.ts';

/** What a new organization's admin has done so far. */
export interface FirstSteps {
  readonly asked: boolean;
  readonly hasDocument: boolean;
  readonly hasKey: boolean;
  readonly hasInvited: boolean;
}

/** The console stops asking once all steps are done, so a full list is read only in small organizations. */
export async function readFirstSteps(
  { store }: Context,
  { organizationId, userId }: UserPrincipal,
): Promise<FirstSteps> {
  const [threads, documents, keys, members] = await Promise.all([
    store.beginWalk(organizationId, { userId, ownOnly: true }, 1),
    store.outlineDocuments(organizationId, null, { documents: 1, headings: 0 }),
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
