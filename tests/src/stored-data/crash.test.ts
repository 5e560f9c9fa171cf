import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { Api } from '../../harness/http/api.ts';
import { Ledger } from '../../harness/replies/ledger.ts';
import { Observations } from '../../harness/replies/observations.ts';
import { Service } from '../../harness/service/service.ts';
import { startWithoutDemo } from '../../harness/service/shared-service.ts';
import { hire, makeOrganization } from '../../harness/world/tenants.ts';

const rounds = 5;
const writers = 6;
const writesBeforeKill = 60;
/** Short, so that replies of a killed process are soon claimed again. */
const environment = { SKEIN_MODEL: 'scripted', SKEIN_REPLY_LEASE_MS: '500' };

describe('A service that is killed in the middle of writes', () => {
  let service: Service | undefined;
  after(() => service?.end('SIGKILL'));

  it(`keeps every acknowledged write and no partial one, ${rounds} times in a row`, {
    timeout: 600_000,
  }, async (t) => {
    service = await startWithoutDemo(environment);
    const { folder } = service;
    const { key } = await hire(service, await makeOrganization(service, 'Acme'), 'ada@acme.example');
    const ledger = new Ledger();
    let cutOff = 0;
    for (let round = 0; round < rounds; round += 1) {
      await writeUntilKilled(service, key, ledger, round);
      cutOff += ledger.cutOff;
      service = await Service.start({ folder, environment });
      const api = new Api(service.baseUrl, key);
      await ledger.retryUnanswered(api);
      await ledger.assertAllThere(api);
      const seen = new Observations();
      await seen.untilAllEnded(api, ledger.asked);
      assert.deepEqual(seen.statuses(), ['completed']);
      assert.equal((await service.skein('doctor')).healthy, true);
    }
    // Otherwise nothing was being written during the kills, and the test proves nothing.
    assert.ok(cutOff > 0, 'some write was under way at a kill');
    assert.ok(ledger.deletions > 0);
    t.diagnostic(`${ledger.size} threads, ${cutOff} writes cut off by ${rounds} kills`);
    assert.equal(await service.end(), 0);
  });
});

/** Writes from several connections at once and kills the service when enough was acknowledged. */
async function writeUntilKilled(service: Service, key: string, ledger: Ledger, round: number): Promise<void> {
  const api = new Api(service.baseUrl, key);
  const enough = Promise.withResolvers<void>();
  const before = ledger.acknowledged;
  const goesOnPastTheKill = () => {
    if (ledger.acknowledged - before >= writesBeforeKill) enough.resolve();
    return false;
  };
  const writing = Promise.all(
    Array.from({ length: writers }, (_, writer) =>
      ledger.write(api, `${round}-${writer}`, goesOnPastTheKill),
    ),
  );
  await Promise.race([enough.promise, writing]);
  assert.equal(await service.end('SIGKILL'), 'SIGKILL');
  await writing;
  assert.ok(ledger.acknowledged - before >= writesBeforeKill);
}
