import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { Api } from '../../harness/http/api.ts';
import { Service, temporaryFolder } from '../../harness/service/service.ts';
import { startWorld } from '../../harness/world/world.ts';

it('A service whose disk fails to sync a write acknowledges nothing more and stops', async () => {
  const broken = join(temporaryFolder(), 'broken');
  const preload = join(import.meta.dirname, 'failing-sync.mjs');
  const { service, ada, adaKey } = await startWorld({
    FAIL_SYNCS: broken,
    NODE_OPTIONS: `--import=${preload}`,
  });
  const { body } = await ada.create({ prompt: 'Before the fault.' });
  await ada.untilDone(body.thread.id);
  writeFileSync(broken, '');
  // The service stops after the first failed sync, so a request that arrives later may find its connection closed.
  const unconfirmed = await Promise.all(
    [1, 2, 3].map(() => ada.create({ prompt: 'After the fault.' }).catch(connectionClosed)),
  );
  const statuses = unconfirmed.map(({ status }) => status);
  assert.ok(statuses.includes(500), String(statuses));
  assert.deepEqual(
    statuses.filter((status) => status !== 'closed' && status !== 500),
    [],
  );
  assert.equal(await service.exit(), 1);
  const fatal = service.output.filter((line) => line.includes('"level":60'));
  assert.equal(fatal.length, 1, service.output.join('\n'));
  assert.match(fatal[0]!, /The disk did not confirm a write to the store \(EIO.*check the disk/);

  const restarted = await Service.start({
    folder: service.folder,
    environment: { SKEIN_MODEL: 'scripted' },
  });
  const { thread, messages } = (await new Api(restarted.baseUrl, adaKey.key).get(body.thread.id)).body;
  assert.equal(thread.id, body.thread.id);
  assert.equal(messages.at(-1).status, 'completed');
  assert.equal(await restarted.end(), 0);
});

function connectionClosed(error: Error) {
  assert.match(error.message, /ECONNRESET|ECONNREFUSED|socket hang up/);
  return { status: 'closed' };
}
