import { counted } from '../../../../runtime/src/pure/text.ts';
import { rateLimited } from '../../domain/errors.ts';
import type { Limits } from '../../domain/limits.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import type { CountUse } from '../count-use.ts';

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

interface PromptLimitNeeds {
  readonly countUse: CountUse;
  readonly limits: Pick<Limits, (typeof periods)[number]['person' | 'organization']>;
}

/** Counts a prompt of the console, and rejects it above the limits. Prompts of the public API count against the quota. */
export type LimitPrompts = (principal: UserPrincipal) => Promise<void>;

export function createPromptLimit({ countUse, limits }: PromptLimitNeeds): LimitPrompts {
  return limitPrompts;

  async function limitPrompts({ organizationId, userId, authority }: UserPrincipal): Promise<void> {
    for (const { period, person, organization, per, next } of periods) {
      const maxima = { personMax: limits[person], organizationMax: limits[organization] };
      const outcome = await countUse(organizationId, userId, { period, ...maxima }, authority);
      if (outcome === 'counted') continue;
      const isPerson = outcome.over === 'person';
      const limit = isPerson ? maxima.personMax : maxima.organizationMax;
      const who = isPerson ? 'You have' : 'Your organization has';
      const sentence = `${who} reached the limit of ${counted(limit, 'prompt')} ${per}. ${next}`;
      throw rateLimited(sentence, Math.ceil(outcome.resetMs / 1000));
    }
  }
}
