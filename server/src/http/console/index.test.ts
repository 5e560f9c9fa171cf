import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fastify } from 'fastify';
import { defaultLimits } from '../../domain/limits.ts';
import type { SurfaceContext } from '../../usecases/surface-context.ts';
import { lazyCompilers } from '../validation.ts';
import { consoleBackend, consoleRoutes } from './index.ts';
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

  it('do not decode the cookies of others', async (test) => {
    const uploadFolder = mkdtempSync(join(tmpdir(), 'skein-console-'));
    const app = fastify({ schemaController: lazyCompilers() });
    test.after(async () => {
      await app.close();
      rmSync(uploadFolder, { recursive: true });
    });
    const context = { limits: defaultLimits } as SurfaceContext;
    await app.register(consoleBackend(context, { limits: defaultLimits, uploadFolder } as ConsoleOptions));
    const decoded = test.mock.method(globalThis, 'decodeURIComponent');
    const { statusCode } = await app.inject({ url: '/sign-in', headers: { cookie: 'a=%; b=%ff; c=%41' } });
    assert.equal(statusCode, 200);
    assert.equal(decoded.mock.callCount(), 0);
  });
});
