import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openLog, openSkein, type Skein } from '../../compose.ts';
import { machine } from '../../compose-use-cases.ts';
import { readConfig } from '../../config/config.ts';
import { defaultLimits } from '../../domain/limits.ts';
import { consoleRoutes } from './index.ts';
import type { ConsoleOptions } from './route.ts';

describe('The routes of the console', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-console-'));
  let skein: Skein;
  before(async () => {
    skein = await openSkein(readConfig({ SKEIN_DATABASE_URL: `sqlite:${join(folder, 'skein.db')}` }));
  });
  after(async () => {
    await skein.close();
    rmSync(folder, { recursive: true });
  });

  it('all take account ids of the length that the operator has set', () => {
    const limits = { ...defaultLimits, linkLengthMax: defaultLimits.linkLengthMax + 1 };
    const needs = { ...skein.useCases, ...machine, limits, baseUrl: () => '' };
    const lengths = consoleRoutes(needs, { limits } as ConsoleOptions).flatMap(({ query, body }) =>
      [query, body].flatMap(
        (part) => (part?.properties.accountId as { maxLength?: number })?.maxLength ?? [],
      ),
    );
    assert.ok(lengths.length >= 4);
    assert.deepEqual(new Set(lengths), new Set([limits.linkLengthMax]));
  });

  it('do not decode the cookies of others', async (test) => {
    const app = await skein.composeApp(await openLog('silent'));
    test.after(() => app.close());
    await app.ready();
    const decoded = test.mock.method(globalThis, 'decodeURIComponent');
    const headers = { cookie: 'a=%; b=%ff; c=%41' };
    const { statusCode } = await app.inject({ url: '/console/sign-in', headers });
    assert.equal(statusCode, 200);
    assert.equal(decoded.mock.callCount(), 0);
  });
});
