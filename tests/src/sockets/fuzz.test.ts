import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fuzzTarget } from '../../harness/fuzz/fuzz-run.ts';
import { FuzzWorld } from '../../harness/fuzz/fuzz-world.ts';

const seed = 20_261_115;
/** Enough for a cut at every byte of two requests, and as many random scripts again. */
const scripts = 1300;

describe('A service that is sent broken requests, resets and random bytes', { concurrency: true }, () => {
  let world: FuzzWorld;
  before(async () => {
    world = await FuzzWorld.start();
  });
  after(async () => {
    assert.deepEqual(world.faults(), []);
    assert.ok(await world.end(), 'every process lived to the end');
  });

  for (const name of ['HTTP', 'HTTPS', 'metrics']) {
    it(`rejects them on its ${name} port with the error envelope, and never with a 5xx`, async (t) => {
      const target = world.targets.find((candidate) => candidate.name === name);
      assert.ok(target);
      const { failures, statuses, connections, requests } = await fuzzTarget(
        target,
        seed,
        (index) => index >= scripts,
      );
      t.diagnostic(`${connections} connections, ${requests} requests, answers ${JSON.stringify(statuses)}`);
      assert.deepEqual(failures, []);
      assert.ok((statuses[400] ?? 0) > scripts / 20 && (statuses[404] ?? 0) > 0);
    });
  }
});
