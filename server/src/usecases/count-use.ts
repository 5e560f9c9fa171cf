import { FairQueue } from '../../../runtime/src/pure/fair-queue.ts';
import type { Authority } from '../domain/authority.ts';
import type { OrganizationId, UserId } from '../domain/id.ts';
import type { PromptLimit, PromptOutcome, Store } from '../storage/port/store.ts';
import type { Authorize } from './authorize.ts';

interface CountUseNeeds {
  readonly store: Pick<Store, 'countPrompt'>;
  readonly authorize: Authorize;
}

/** Counts one use of a person, such as a prompt or an email, and of the organization. */
export type CountUse = (
  organizationId: OrganizationId,
  person: UserId,
  limit: PromptLimit,
  authority: Authority,
) => Promise<PromptOutcome>;

export function createCountUse({ store, authorize }: CountUseNeeds): CountUse {
  /** Counting locks rows: a flood by one organization must not hold every connection to the store. */
  const counting = new FairQueue<OrganizationId>(2, 1);
  return (organizationId, person, limit, authority) => {
    const count = () => store.countPrompt(organizationId, person, limit, authority);
    return authorize(authority, counting.run(organizationId, count));
  };
}
