import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { openMetrics } from '../../compose.ts';
import { readConfig } from '../../config/config.ts';

describe('The metrics of a process', () => {
  it('load their library only if metrics are enabled', async () => {
    const { cache } = createRequire(import.meta.url);
    const isLoaded = () => Object.keys(cache).some((file) => file.includes('/prom-client/'));
    assert.equal(await openMetrics(readConfig({}), 'all'), undefined);
    assert.equal(isLoaded(), false);
    assert.ok(await openMetrics(readConfig({ SKEIN_METRICS_PORT: '0' }), 'all'));
    assert.equal(isLoaded(), true);
  });
});
