import { rateLimited } from '../../domain/errors.ts';
import { FairQueue } from '../../domain/fair-queue.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import { memoized } from '../../domain/memoized.ts';
import { setBounded } from '../../domain/set-bounded.ts';
import { counted } from '../../domain/text.ts';
import { dayMs } from '../../domain/time.ts';
import type { PromptLimit, Store } from '../../storage/store.ts';
import type { PersonCall } from '../context.ts';

const periods = [
  // First, so that a burst that is refused does not use up the day.
  {
    period: 'minute',
    ms: 60_000,
    person: 'consolePromptsPerMinute',
    organization: 'consoleOrganizationPromptsPerMinute',
    within: 'this minute',
    next: 'Wait a minute and try again.',
  },
  {
    period: 'day',
    ms: dayMs,
    person: 'consolePromptsPerDay',
    organization: 'consoleOrganizationPromptsPerDay',
    within: 'today',
    next: 'The limit resets at 00:00 UTC.',
  },
] as const;

/** Counts a prompt of the console, and rejects it above the limits. Those of the public API count against the quota. */
export async function limitPrompts({ context, principal }: PersonCall): Promise<void> {
  const { store, limits, now } = context;
  const { organizationId, userId } = principal;
  for (const { period, ms, person, organization, within, next } of periods) {
    const startedAt = Math.floor(now() / ms) * ms;
    const maxima = { personMax: limits[person], organizationMax: limits[organization] };
    const outcome = await countUse(store, organizationId, userId, { period, startedAt, ...maxima });
    if (outcome === 'counted') continue;
    const isPerson = outcome === 'person-limit';
    const limit = isPerson ? maxima.personMax : maxima.organizationMax;
    const who = isPerson ? 'You have' : 'Your organization has';
    const sentence = `${who} sent ${counted(limit, 'prompt')} ${within}, which is the limit. ${next}`;
    throw rateLimited(sentence, Math.ceil((startedAt + ms - now()) / 1000));
  }
}

type Outcome = Awaited<ReturnType<Store['countPrompt']>>;

/** Counts lock rows: a flood by one organization must not hold every connection to the store. */
const counting = new FairQueue<OrganizationId>(2, 1);
/** What was refused, and the start of its period, by what was counted. It stays refused until the next period. */
const refusals = memoized((_store: object) => new Map<string, number>());
const refusalsMax = 10_000;

/** Counts one use, of the person and of the organization. Above a limit, the store is not asked again in that period. */
export async function countUse(
  store: Pick<Store, 'countPrompt'>,
  organizationId: OrganizationId,
  person: UserId,
  limit: PromptLimit,
): Promise<Outcome> {
  const refused = refusals(store);
  const keyOf = (outcome: Outcome) =>
    JSON.stringify([organizationId, limit.period, outcome === 'person-limit' && person]);
  return counting.run(organizationId, async () => {
    for (const outcome of ['person-limit', 'organization-limit'] as const)
      if (refused.get(keyOf(outcome)) === limit.startedAt) return outcome;
    const outcome = await store.countPrompt(organizationId, person, limit);
    if (outcome !== 'counted') setBounded(refused, keyOf(outcome), limit.startedAt, refusalsMax);
    return outcome;
  });
}
