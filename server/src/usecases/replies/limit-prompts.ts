import { ServiceError } from '../../domain/errors.ts';
import { FairQueue } from '../../domain/fair-queue.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import { dayMs } from '../../domain/iso-time.ts';
import type { LimitName } from '../../domain/limits.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import type { PromptLimit, Store } from '../../storage/store.ts';
import type { Context } from '../context.ts';

const periods: readonly {
  name: Exclude<PromptLimit['period'], 'mail'>;
  ms: number;
  person: LimitName;
  organization: LimitName;
}[] = [
  // First, so that a burst that is refused does not use up the day.
  { name: 'minute', ms: 60_000, person: 'promptsPerMinute', organization: 'organizationPromptsPerMinute' },
  { name: 'day', ms: dayMs, person: 'promptsPerDay', organization: 'organizationPromptsPerDay' },
];

/**
 * Counts a prompt that a person sends in the console, and rejects it above the limits. Prompts of the public interface
 * count against the organization's quota instead.
 */
export async function limitPrompts(
  { store, limits, now }: Context,
  { organizationId, userId }: UserPrincipal,
): Promise<void> {
  for (const { name, ms, person, organization } of periods) {
    const startedAt = Math.floor(now() / ms) * ms;
    const outcome = await countUse(store, organizationId, userId, {
      period: name,
      startedAt,
      personMax: limits[person],
      organizationMax: limits[organization],
    });
    if (outcome === 'counted') continue;
    const retryAfterSeconds = Math.ceil((startedAt + ms - now()) / 1000);
    throw outcome === 'person-limit'
      ? limited('You have', limits[person], name, retryAfterSeconds)
      : limited('Your organization has', limits[organization], name, retryAfterSeconds);
  }
}

function limited(
  who: string,
  limit: number,
  period: (typeof periods)[number]['name'],
  retryAfterSeconds: number,
): ServiceError {
  const [within, until] =
    period === 'minute'
      ? ['this minute', 'Wait a minute and try again.']
      : ['today', 'The limit resets at 00:00 UTC.'];
  const prompts = limit === 1 ? '1 prompt' : `${limit.toLocaleString('en')} prompts`;
  const sentence = `${who} sent ${prompts} ${within}, which is the limit. ${until}`;
  return new ServiceError('RATE_LIMITED', sentence, { retryAfterSeconds });
}

type Outcome = Awaited<ReturnType<Store['countPrompt']>>;

/** Counts lock rows: a flood by one organization must not hold every connection to the store. */
const counting = new FairQueue<OrganizationId>(2, 1);
/** What was refused, and the start of its period, by what was counted. It stays refused until the next period. */
const refusals = new WeakMap<object, Map<string, number>>();
const refusalsMax = 10_000;

/** Counts one use, of the person and of the organization. Above a limit, the store is not asked again in that period. */
export async function countUse(
  store: Pick<Store, 'countPrompt'>,
  organizationId: OrganizationId,
  person: UserId,
  limit: PromptLimit,
): Promise<Outcome> {
  const refused = refusals.get(store) ?? new Map<string, number>();
  refusals.set(store, refused);
  const keyOf = (outcome: Outcome) =>
    JSON.stringify([organizationId, limit.period, outcome === 'person-limit' && person]);
  await counting.acquire(organizationId);
  try {
    for (const outcome of ['person-limit', 'organization-limit'] as const)
      if (refused.get(keyOf(outcome)) === limit.startedAt) return outcome;
    const outcome = await store.countPrompt(organizationId, person, limit);
    if (refused.size >= refusalsMax) refused.clear();
    if (outcome !== 'counted') refused.set(keyOf(outcome), limit.startedAt);
    return outcome;
  } finally {
    counting.release(organizationId);
  }
}
