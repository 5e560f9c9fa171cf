import type { Target } from './load.ts';
import { walk } from './requests.ts';
import type { SeededStore } from './seed.ts';

const windowDefault = 10_000;

/** Checks over HTTP that the service sees the seeded store as expected. */
export async function verifyStore(service: Target, store: SeededStore): Promise<void> {
  const { personalKey, orgWideKey, accountId, sizes } = store;
  const walks = [
    { name: 'personal', size: sizes.personal, seen: await walk(service, personalKey) },
    { name: 'org-wide', size: sizes.published, seen: await walk(service, orgWideKey) },
    { name: 'account', size: sizes.personalAccount, seen: await walk(service, personalKey, accountId) },
  ];
  for (const { name, size, seen } of walks) {
    const expected = { threads: Math.min(size, windowDefault), truncated: size > windowDefault };
    if (seen.threads !== expected.threads || seen.truncated !== expected.truncated) {
      throw new Error(
        `The ${name} listing shows ${JSON.stringify(seen)} instead of ${JSON.stringify(expected)}.`,
      );
    }
  }
}
