import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { documentNoises } from '../../harness/neighbors/document-noises.ts';
import { describeMeasured, measureBeside } from '../../harness/neighbors/measure.ts';
import {
  type Neighborhood,
  type NeighborhoodSettings,
  startNeighborhood,
} from '../../harness/neighbors/neighborhood.ts';
import { type Noise, silence } from '../../harness/neighbors/noise.ts';
import { poisonReply, poisonSettings } from '../../harness/neighbors/poison-reply.ts';
import { requestNoises } from '../../harness/neighbors/request-noises.ts';
import { TimedTenant } from '../../harness/neighbors/timed-tenant.ts';
import { describeOnEachEngine } from '../../harness/world/engines.ts';

/** How long each noise is made at least, so that there are requests to time. */
const atLeastMs = 500;
/** A get every 50 ms: at the rate of the benchmark, these requests would take more processor time than most noises. */
const intervalFactor = 5;

/** Starts one service for all noises. Latency is printed and never asserted: it is the machine's, too. */
function testNoises(settings: () => Promise<NeighborhoodSettings>, noises: readonly Noise[]): void {
  let world: Neighborhood;
  let timed: TimedTenant;
  before(async () => {
    timed = new TimedTenant(intervalFactor);
    world = await startNeighborhood(await settings());
  });
  after(async () => {
    timed?.end();
    await world?.service.end();
  });

  async function assertServed(t: TestContext, make: () => Promise<readonly string[]>) {
    const measured = await measureBeside(timed, world, make, atLeastMs);
    for (const line of describeMeasured(measured)) t.diagnostic(line);
    assert.deepEqual(measured.faults, []);
    for (const [operation, { count }] of Object.entries(measured.figures)) {
      assert.ok(count > 0, `the other tenant sends a ${operation}`);
    }
    assert.equal((await fetch(`${world.service.baseUrl}/readyz`)).status, 200);
    return measured;
  }

  for (const noise of noises) {
    it(`serves a tenant during a short form of "${noise.name}"`, { timeout: 180_000 }, async (t) => {
      const { outcomes, grownMb } = await assertServed(t, () => noise.make(world, 'short'));
      const met = Object.keys(outcomes);
      if (noise !== silence) assert.ok(met.length > 0, 'the noise was made');
      assert.deepEqual(
        met.filter((outcome) => !noise.outcomes.includes(outcome)),
        [],
      );
      if (!Number.isNaN(grownMb)) assert.ok(grownMb < noise.grownMbMax, `grew by ${grownMb} MiB`);
    });
  }
}

describeOnEachEngine('A service with a noisy tenant', ({ engine, freshStore }) => {
  const noises = [silence, ...documentNoises, ...requestNoises];
  testNoises(
    async () => ({ environment: { ...(await freshStore()), SKEIN_DOCUMENT_READ_MS: '30000' } }),
    engine === 'SQLite' ? noises : noises.filter(({ isAboutStore }) => isAboutStore),
  );
});

describe('A service whose workers are killed', () => {
  testNoises(async () => poisonSettings, [poisonReply]);
});
