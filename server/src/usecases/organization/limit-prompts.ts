import { FairQueue } from '../../../../runtime/src/pure/fair-queue.ts';
import { counted } from '../../../../runtime/src/pure/text.ts';
import type { Authority } from '../../domain/authority.ts';
import { rateLimited } from '../../domain/errors.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import type { PromptLimit, PromptOutcome } from '../../storage/port/store.ts';
import { authorize } from '../authorize.ts';
import type { Context, PersonCall } from '../context.ts';

const periods = [
  // First, so that a burst that is refused does not use up the day.
  {
    period: 'minute',
    person: 'consolePromptsPerMinute',
    organization: 'consoleOrganizationPromptsPerMinute',
    per: 'a minute',
    next: 'Wait a minute and try again.',
  },
  {
    period: 'day',
    person: 'consolePromptsPerDay',
    organization: 'consoleOrganizationPromptsPerDay',
    per: 'a day',
    next: 'The limit resets at 00:00 UTC.',
  },
] as const;

/** Counts a prompt of the console, and rejects it above the limits. Prompts of the public API count against the quota. */
export async function limitPrompts({ context, principal }: PersonCall): Promise<void> {
  const { organizationId, userId, authority } = principal;
  for (const { period, person, organization, per, next } of periods) {
    const maxima = { personMax: context.limits[person], organizationMax: context.limits[organization] };
    const outcome = await countUse(context, organizationId, userId, { period, ...maxima }, authority);
    if (outcome === 'counted') continue;
    const isPerson = outcome.over === 'person';
    const limit = isPerson ? maxima.personMax : maxima.organizationMax;
    const who = isPerson ? 'You have' : 'Your organization has';
    const sentence = `${who} reached the limit of ${counted(limit, 'prompt')} ${per}. ${next}`;
    throw rateLimited(sentence, Math.ceil(outcome.resetMs / 1000));
  }
}

/** Counting locks rows: a flood by one organization must not hold every connection to the store. */
const counting = new FairQueue<OrganizationId>(2, 1);

/** Counts one use, of the person and of the organization. */
export function countUse(
  context: Context,
  organizationId: OrganizationId,
  person: UserId,
  limit: PromptLimit,
  authority: Authority,
): Promise<PromptOutcome> {
  const count = () => context.store.countPrompt(organizationId, person, limit, authority);
  return authorize(context, authority, counting.run(organizationId, count));
}
