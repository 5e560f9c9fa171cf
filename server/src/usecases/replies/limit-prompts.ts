import { rateLimited } from '../../domain/errors.ts';
import { FairQueue } from '../../domain/fair-queue.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import { memoized } from '../../domain/memoized.ts';
import { setBounded } from '../../domain/set-bounded.ts';
import { counted } from '../../domain/text.ts';
import type { PromptLimit, PromptOutcome } from '../../storage/store.ts';
import type { Context, PersonCall } from '../context.ts';

const periods = [
  // First, so that a burst that is refused does not use up the day.
  {
    period: 'minute',
    person: 'consolePromptsPerMinute',
    organization: 'consoleOrganizationPromptsPerMinute',
    within: 'this minute',
    next: 'Wait a minute and try again.',
  },
  {
    period: 'day',
    person: 'consolePromptsPerDay',
    organization: 'consoleOrganizationPromptsPerDay',
    within: 'today',
    next: 'The limit resets at 00:00 UTC.',
  },
] as const;

/** Counts a prompt of the console, and rejects it above the limits. Those of the public API count against the quota. */
export async function limitPrompts({ context, principal }: PersonCall): Promise<void> {
  const { organizationId, userId } = principal;
  for (const { period, person, organization, within, next } of periods) {
    const maxima = { personMax: context.limits[person], organizationMax: context.limits[organization] };
    const outcome = await countUse(context, organizationId, userId, { period, ...maxima });
    if (outcome === 'counted') continue;
    const isPerson = outcome.over === 'person';
    const limit = isPerson ? maxima.personMax : maxima.organizationMax;
    const who = isPerson ? 'You have' : 'Your organization has';
    const sentence = `${who} sent ${counted(limit, 'prompt')} ${within}, which is the limit. ${next}`;
    throw rateLimited(sentence, Math.ceil(outcome.resetMs / 1000));
  }
}

/** Counts lock rows: a flood by one organization must not hold every connection to the store. */
const counting = new FairQueue<OrganizationId>(2, 1);
/** When a use was refused, and until when that lasts, by what was counted and by the node's clock. */
const refusals = memoized(
  (_store: object) => new Map<string, { readonly from: number; readonly to: number }>(),
);
const refusalsMax = 10_000;

/** Counts one use, of the person and of the organization. Above a limit, the store is not asked again in that period. */
export async function countUse(
  { store, now }: { readonly store: Pick<Context['store'], 'countPrompt'>; readonly now: () => number },
  organizationId: OrganizationId,
  person: UserId,
  limit: PromptLimit,
): Promise<PromptOutcome> {
  const refused = refusals(store);
  const keyOf = (over: 'person' | 'organization') =>
    JSON.stringify([organizationId, limit.period, over === 'person' && person]);
  return counting.run(organizationId, async () => {
    const at = now();
    for (const over of ['person', 'organization'] as const) {
      const { from, to } = refused.get(keyOf(over)) ?? { from: at, to: at };
      // Not before `from`: the clock was set back, and `to` may be far away.
      if (at >= from && at < to) return { over, resetMs: to - at };
    }
    const outcome = await store.countPrompt(organizationId, person, limit);
    if (outcome !== 'counted') {
      const from = now();
      setBounded(refused, keyOf(outcome.over), { from, to: from + outcome.resetMs }, refusalsMax);
    }
    return outcome;
  });
}
