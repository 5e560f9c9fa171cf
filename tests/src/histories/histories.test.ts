import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { Chance } from '../../harness/fuzz/chance.ts';
import { runRound } from './round.ts';
import { Site } from './site.ts';

const roundMs = 6000;

describe('A recorded history of two nodes that are killed, paused and cut off', { timeout: 180_000 }, () => {
  let site: Site | undefined;
  after(() => site?.end());

  for (const [store, start] of [
    ['the embedded store', () => Site.embedded({ onSmallDisk: true })],
    ['PostgreSQL', () => Site.postgres()],
  ] as const) {
    it(`violates no guarantee on ${store}`, async (t) => {
      const seed = Math.floor(Math.random() * 2 ** 31);
      site = await start();
      const { violations, calls, unknown, outages } = await runRound(site, {
        name: 'short',
        ms: roundMs,
        chance: new Chance(seed),
      });
      const faults = outages.map(({ fault }) => fault).join(', ');
      t.diagnostic(`seed ${seed}: ${calls} calls, ${unknown} without a result, faults: ${faults}`);
      assert.deepEqual([...violations, ...(await site.end())], []);
      site = undefined;
    });
  }
});
