import type { Target } from './load.ts';
import type { Plan } from './plan.ts';
import { accessToken, getThreads } from './requests.ts';
import { compare } from './rounds.ts';
import type { SeededStore } from './seed.ts';
import { micros, ms, printTable, rate, ratio } from './table.ts';

/**
 * Measures what an access token costs: the same gets with an application's token and with an org-wide key, in the same
 * rounds.
 */
export async function measureApplicationGets(
  service: Target,
  { application, orgWideKey, publishedIds }: SeededStore,
  { settings }: Plan,
): Promise<void> {
  const token = await accessToken(service, application);
  const contenders = [
    { target: service, requests: getThreads(publishedIds, token) },
    { target: service, requests: getThreads(publishedIds, orgWideKey) },
  ];
  const { results, ratios, cpuRatios } = await compare(contenders, settings);
  const [tokens, keys] = results as [(typeof results)[0], (typeof results)[0]];
  printTable(
    "Gets with an application's token, against the same gets with an org-wide key",
    ['operation', 'requests/s', 'with key, /s', 'ratio', 'p50 ms', 'CPU µs', 'key CPU µs', 'CPU ratio'],
    [
      [
        'get, application',
        rate(tokens.requestsPerSecond),
        rate(keys.requestsPerSecond),
        ratio(ratios[0]!),
        ms(tokens.p50Ms),
        micros(tokens.cpuMicros),
        micros(keys.cpuMicros),
        ratio(cpuRatios[0]!),
      ],
    ],
  );
}
