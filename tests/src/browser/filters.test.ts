import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sharedBrowser } from '../../harness/browser/browser.ts';
import { openAs, shown, untilAnnounced } from '../../harness/browser/people.ts';
import { sharedSettingsWorld } from '../../harness/console/settings-world.ts';
import { assertDone } from '../../harness/console/visitor.ts';
import { eventually } from '../../harness/service/eventually.ts';

describe('Filters in the console', () => {
  it('show the members, keys and applications whose rows contain all the words', async () => {
    const world = await sharedSettingsWorld();
    const window = await openAs(await sharedBrowser(), world.ada.client);
    const { page } = window;
    for (const name of ['Filtered by name', 'Other']) {
      assertDone(await world.ada.post('/keys', { name, scope: 'org-wide' }), 201);
      assertDone(await world.ada.post('/applications', { name }), 201);
    }
    const cases = [
      { path: 'members', noun: 'member', text: `${world.email('ben')} ACTIVE`, found: world.email('ben') },
      { path: 'members', noun: 'member', text: 'service', found: world.email('robot') },
      { path: 'keys', noun: 'key', text: 'name filter org-wide', found: 'Filtered by name' },
      { path: 'applications', noun: 'application', text: 'filtered', found: 'Filtered by name' },
    ];
    const countRows = () => page.getByRole('row').count();
    for (const { path, noun, text, found } of cases) {
      await page.goto(`/settings/${path}`);
      const field = page.getByRole('searchbox', { name: `Filter ${noun}s` });
      const row = page.getByRole('row').filter({ hasText: found });
      await shown(row);
      const all = await countRows();
      assert.ok(all > 2, 'there is something to leave out');
      await page.keyboard.press('/');
      await page.keyboard.type(text);
      await untilAnnounced(page, `1 ${noun} found`);
      assert.equal(await countRows(), 2, 'the heading and one row');
      await shown(row);
      await field.fill('nothing like this');
      await shown(page.getByText(`No matching ${noun}s`));
      await page.getByRole('button', { name: 'Clear search' }).press('Enter');
      await eventually(countRows, (count) => count === all);
      assert.ok(await field.evaluate((element: any) => element.matches(':focus')), 'the focus is kept');
      await field.fill('nothing like this');
      await field.press('Escape');
      await eventually(countRows, (count) => count === all);
    }
    await window.close();
  });
});
