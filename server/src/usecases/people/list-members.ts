import { type ApiKey, isLive } from '../../domain/credential.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Member } from '../../domain/organization.ts';
import type { Context } from '../context.ts';

export interface ListedMember extends Member {
  /** `invited`: the link was not used yet. `expired`: it cannot be any more. Service accounts need none. */
  readonly state: 'active' | 'invited' | 'expired';
  /** Personal ones that are live: they die with the membership. */
  readonly keys: readonly ApiKey[];
}

/** In order of joining. */
export async function listMembers(
  { store, now }: Context,
  organizationId: OrganizationId,
): Promise<ListedMember[]> {
  const [members, keys] = await Promise.all([
    store.listMembers(organizationId),
    store.listApiKeys(organizationId),
  ]);
  const live = Map.groupBy(
    keys.filter((key) => isLive(key, now())),
    ({ userId }) => userId,
  );
  return members.map((member) => ({
    ...member,
    state: stateOf(member, now()),
    keys: live.get(member.userId) ?? [],
  }));
}

function stateOf({ service, opened, invitedUntil }: Member, now: number): ListedMember['state'] {
  if (service || opened) return 'active';
  return invitedUntil !== null && invitedUntil > now ? 'invited' : 'expired';
}
