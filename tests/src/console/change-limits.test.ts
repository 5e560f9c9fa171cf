import assert from 'node:assert/strict';
import { it } from 'node:test';
import { signUp, startSettingsWorld } from '../../harness/console/settings-world.ts';
import { assertDone, assertRefused } from '../../harness/console/visitor.ts';
import { describeOnEachEngine } from '../../harness/world/engines.ts';

describeOnEachEngine('Changes in the console', ({ freshStore }) => {
  it('are limited per member and minute, and reading is not', async () => {
    const world = await startSettingsWorld({
      ...(await freshStore()),
      SKEIN_CONSOLE_CHANGES_PER_MINUTE: '2',
    });
    try {
      const { ada, eve } = world;
      const ids = [];
      for (const name of ['a.md', 'b.md', 'c.md'])
        ids.push(assertDone(await ada.upload({ name }, `# ${name}\n\nText.\n`), 201).id);
      // One change, however many documents.
      assert.deepEqual(assertDone(await ada.post('/documents/remove', { ids })), { handled: 3, removed: 3 });
      assertDone(await ada.post('/keys', { name: 'Two', scope: 'org-wide' }), 201);
      const third = await ada.post('/keys', { name: 'Three', scope: 'org-wide' });
      assertRefused(
        third,
        429,
        /^You have reached the limit of 2 changes a minute\. Wait a minute and try again\.$/,
      );
      assertDone(await ada.call('GET', '/keys'));
      assertDone(await eve.post('/keys', { name: 'One', scope: 'org-wide' }), 201);
      // An organization that adds a person cannot use up what they may change elsewhere.
      const elsewhere = await signUp(world.service, world.globex, world.email('ada'), 'admin');
      assertDone(await elsewhere.post('/keys', { name: 'Four', scope: 'org-wide' }), 201);
      // Somebody with a stolen session cannot keep its owner from this.
      assertDone(await ada.client.post('/sign-out-everywhere'));
    } finally {
      await world.end();
    }
  });
});
