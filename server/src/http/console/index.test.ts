import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defaultLimits } from '../../domain/limits.ts';
import { consoleRoutes } from './index.ts';
import type { ConsoleOptions } from './route.ts';

describe('The routes of the console', () => {
  it('all take account ids of the length that the operator has set', () => {
    const linkLengthMax = defaultLimits.linkLengthMax + 1;
    const options = { limits: { ...defaultLimits, linkLengthMax } } as ConsoleOptions;
    const lengths = consoleRoutes(options).flatMap(({ query, body }) =>
      [query, body].flatMap(
        (part) => (part?.properties.accountId as { maxLength?: number })?.maxLength ?? [],
      ),
    );
    assert.ok(lengths.length >= 4);
    assert.deepEqual(new Set(lengths), new Set([linkLengthMax]));
  });
});
