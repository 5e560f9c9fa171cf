import { after, before } from 'node:test';
import type { Locator } from 'playwright-core';
import { sharedBrowser, type Window } from '../../harness/browser/browser.ts';
import { openAs } from '../../harness/browser/people.ts';
import { type SettingsWorld, sharedSettingsWorld } from '../../harness/console/settings-world.ts';
import { Api } from '../../harness/http/api.ts';

/** A window of Ada, an admin, that is open during the tests of a suite, and the parts of its page. */
export function openSettingsWindow() {
  let world: SettingsWorld;
  let window: Window;
  before(async () => {
    world = await sharedSettingsWorld();
    window = await openAs(await sharedBrowser(), world.ada.client);
  });
  after(() => window?.close());
  return {
    world: () => world,
    window: () => window,
    dialog: () => window.page.getByRole('dialog'),
    button: (name: string, within: Locator = window.page.getByRole('main')) =>
      within.getByRole('button', { name, exact: true }),
    row: (text: string) => window.page.getByRole('row').filter({ hasText: text }),
    /** The public API with this key or access token. */
    api: (credential: string) => new Api(world.service.baseUrl, credential),
  };
}
