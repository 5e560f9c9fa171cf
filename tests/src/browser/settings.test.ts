import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { lookAt, sharedBrowser } from '../../harness/browser/browser.ts';
import { gone, heading, openAs, shown } from '../../harness/browser/people.ts';
import { signedInMember } from '../../harness/console/console-client.ts';
import { type SettingsWorld, sharedSettingsWorld } from '../../harness/console/settings-world.ts';
import { assertDone } from '../../harness/console/visitor.ts';

describe('Settings in the console', () => {
  let world: SettingsWorld;
  let browser: Browser;
  before(async () => {
    world = await sharedSettingsWorld();
    browser = await sharedBrowser();
  });

  it('show members their own data and explain that other pages are for admins', async () => {
    assertDone(await world.ada.post('/keys', { name: 'Dashboard', scope: 'org-wide' }), 201);
    const ben = await openAs(browser, world.ben.client);
    await ben.page.goto('/settings/keys');
    await shown(ben.page.getByText('Your personal keys'));
    assert.equal(await ben.page.getByRole('button', { name: 'Create key' }).count(), 0);
    await shown(ben.page.getByText('No keys yet'));
    assert.equal(await ben.page.getByText('Dashboard').count(), 0, 'nor keys of others');
    const leftOut = ben.page.getByText('Earlier days are left out');
    await ben.page.goto('/settings/usage');
    await shown(ben.page.getByText('Today’s quota'));
    await gone(leftOut);
    await ben.page.route('**/console/**/usage*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), isCut: true } });
    });
    await ben.page.reload();
    await shown(leftOut);
    await ben.page.goto('/settings/documents');
    await shown(heading(ben.page, 'Documents'));
    assert.equal(await ben.page.getByLabel('Add files').count(), 0);
    for (const path of ['applications', 'members', 'audit', 'Members', 'model/']) {
      await ben.page.goto(`/settings/${path}`);
      await shown(ben.page.getByText('This page is for admins'));
    }
    await lookAt(ben.page, 'admins-only');
    await ben.close();
  });

  it('tell an organization without the public API that it has no credentials', async () => {
    await world.service.skein('org', 'create', 'Quiet Corp', '--api', 'off');
    const client = await signedInMember(world.service, 'Quiet Corp', 'quin@quiet.example', 'admin');
    const quin = await openAs(browser, client);
    for (const path of ['keys', 'applications', 'usage']) {
      await quin.page.goto(`/settings/${path}`);
      await shown(quin.page.getByText('The public API is not enabled'));
      assert.equal(await quin.page.getByRole('button', { name: /^Create/ }).count(), 0);
    }
    await lookAt(quin.page, 'without-api');
    await quin.page.goto('/new');
    await quin.page.getByLabel('Your question').fill('Does the rest work?');
    await quin.page.keyboard.press('Enter');
    await shown(quin.page.getByText('You asked: Does the rest work?'));
    await quin.close();
  });
});
