import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { lookAt, sharedBrowser, type Window } from '../../harness/browser/browser.ts';
import { gone, heading, openAs, shown, untilAnnounced } from '../../harness/browser/people.ts';
import { type SettingsWorld, sharedSettingsWorld } from '../../harness/console/settings-world.ts';
import { ask } from '../../harness/console/thread-calls.ts';
import { assertDone } from '../../harness/console/visitor.ts';
import { eventually } from '../../harness/service/eventually.ts';

/** More than three pages of a list. */
const yarns = 105;

describe('Threads in the console', () => {
  let world: SettingsWorld;
  let browser: Browser;
  let window: Window;
  before(async () => {
    world = await sharedSettingsWorld();
    browser = await sharedBrowser();
    for (let index = 1; index <= yarns; index += 1) {
      const accountId = index % 10 === 0 ? 'acme-eu' : undefined;
      await ask(world.ada, `Yarn ${index}`, {
        title: `Yarn number ${index}`,
        ...(accountId && { accountId }),
      });
    }
    const { thread } = await ask(world.ben, 'How long is a skein?', { title: 'Lengths of skeins' });
    assertDone(await world.ben.call('PUT', `/threads/${thread.id}/published`, { body: { published: true } }));
    // The thread index is updated within about a second.
    for (const search of ['yarn number 77', 'yarn number 42', `yarn number ${yarns}`, 'skein']) {
      await eventually(
        async () => assertDone(await world.ada.get(`/threads?${new URLSearchParams({ search })}`)).threads,
        ({ length }) => length > 0,
      );
    }
    window = await openAs(browser, world.ada.client);
  });
  after(async () => {
    await window?.close();
  });

  const list = (page = window.page) => page.getByRole('list', { name: 'Threads' });
  const row = (title: string) => list().getByRole('link', { name: new RegExp(`^${title} `) });
  const rowCount = (count: number) =>
    eventually(
      () => list().getByRole('listitem').count(),
      (found) => found === count,
    );

  it('keep what is typed while the page of a new thread loads', async () => {
    const openings = [
      (page: Page) => page.goto('/new'),
      async (page: Page) => {
        await page.goto('/');
        await shown(list(page));
        await page.keyboard.press('n');
      },
    ];
    for (const open of openings) {
      const { page } = await window.tab();
      const asked = Promise.withResolvers<void>();
      const typed = Promise.withResolvers<void>();
      await page.route('**/new-thread-page-*.js', async (route) => {
        asked.resolve();
        await typed.promise;
        await route.continue();
      });
      await open(page);
      await asked.promise;
      await page.keyboard.type('Why? / no');
      await page.keyboard.press('Backspace');
      await page.keyboard.press('Enter');
      typed.resolve();
      const field = page.getByLabel('Your question');
      await shown(field);
      await page.keyboard.type('t');
      assert.equal(await field.inputValue(), 'Why? / nt');
      await field.fill('');
      await page.close();
    }
  });

  it('load more while the user scrolls, each thread once', async () => {
    const { page } = window;
    await page.goto('/');
    await shown(row(`Yarn number ${yarns}`));
    assert.ok((await list().getByRole('listitem').count()) < yarns, 'not all at once');
    while ((await list().getByRole('listitem').count()) < yarns) await page.mouse.wheel(0, 4_000);
    const titles = await list().locator('[class*=title]').allTextContents();
    assert.deepEqual(
      titles,
      Array.from({ length: yarns }, (_, index) => `Yarn number ${yarns - index}`),
    );
    await gone(page.getByRole('button', { name: 'Load more' }));
    window.assertFaultless();
  });

  it('are found by title from the keyboard, and Esc shows all of them again', async () => {
    const { page } = window;
    await page.goto('/');
    await shown(row(`Yarn number ${yarns}`));
    await page.keyboard.press('/');
    await page.keyboard.type('number 77');
    await rowCount(1);
    await untilAnnounced(page, '1 thread found');
    assert.match(page.url(), /search=/, 'a reload keeps it');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await shown(heading(page, 'Yarn number 77'));
    await page.goBack();
    await rowCount(1);
    const search = page.getByRole('searchbox', { name: 'Search threads' });
    assert.equal(await search.inputValue(), 'number 77');
    await search.focus();
    await page.keyboard.press('Escape');
    await shown(row(`Yarn number ${yarns}`));
    await search.fill('nothing is called so');
    await shown(page.getByText('No matching threads'));
    await page.getByRole('link', { name: 'Show all threads' }).click();
    await shown(row(`Yarn number ${yarns}`));
    window.assertFaultless();
  });

  it('are found by words in their messages, which are highlighted, and filtered by state and time', async () => {
    const { page } = window;
    await page.goto('/?search=question+repeat');
    await shown(row(`Yarn number ${yarns}`));
    const first = list().getByRole('listitem').first();
    assert.deepEqual(await first.locator('mark').allTextContents(), ['repeats', 'question']);
    await shown(first.getByText('Done'));
    await lookAt(page, 'found-threads');
    const state = page.getByRole('combobox', { name: 'State' });
    await state.selectOption('Failed');
    await shown(page.getByText('No matching threads'));
    assert.match(page.url(), /state=error/);
    await state.selectOption('Done');
    await page.getByRole('combobox', { name: 'Last activity' }).selectOption('Past day');
    await shown(row(`Yarn number ${yarns}`));
    assert.match(page.url(), /within=day/);
    await page.reload();
    await shown(row(`Yarn number ${yarns}`));
    await page.goto('/published?search=skein');
    await rowCount(1);
    await shown(list().getByText(world.email('ben')));
    window.assertFaultless();
  });

  it('that are recent are in the sidebar of every page, with their current state', async () => {
    const { page } = window;
    await page.goto('/settings/documents');
    const recent = page.getByRole('region', { name: 'Recent' });
    await shown(recent.getByRole('link', { name: `Yarn number ${yarns} Done` }));
    assert.equal(await recent.getByRole('link').count(), 6);
    await page.goto('/settings/audit');
    await shown(recent.getByRole('link').last());
    await eventually(
      async () => [
        await page.getByRole('navigation', { name: 'Main' }).boundingBox(),
        await page.getByRole('link', { name: 'Audit log' }).boundingBox(),
      ],
      ([nav, link]) => link!.y >= nav!.y && link!.y + link!.height <= nav!.y + nav!.height + 1,
    );
    const { thread } = await ask(world.ada, '#hang', { title: 'Slow yarn' });
    await page.bringToFront();
    await shown(recent.getByRole('link', { name: 'Slow yarn Replying' }));
    await recent.getByRole('link', { name: `Yarn number ${yarns}` }).click();
    await shown(heading(page, `Yarn number ${yarns}`));
    assert.equal(await recent.locator('[aria-current=page]').textContent(), `Yarn number ${yarns} Done`);
    await page.getByRole('textbox').fill('A draft');
    await recent.getByRole('link', { name: 'Slow yarn' }).click();
    await shown(heading(page, 'Slow yarn'));
    assertDone(await world.ada.post(`/threads/${thread.id}/stop`));
    await shown(recent.getByRole('link', { name: 'Slow yarn Done' }));
    await recent.getByRole('link', { name: `Yarn number ${yarns}` }).click();
    await shown(heading(page, `Yarn number ${yarns}`));
    assert.equal(await page.getByRole('textbox').inputValue(), 'A draft', 'switching keeps what was written');
    assertDone(await world.ada.call('DELETE', `/threads/${thread.id}`));
    await gone(recent.getByRole('link', { name: 'Slow yarn' }));
    window.assertFaultless();
  });

  it('are filtered by account, with suggestions', async () => {
    const { page } = window;
    await page.goto('/');
    await page.getByRole('combobox', { name: 'Account' }).pressSequentially('acme');
    await page.getByRole('option', { name: 'acme-eu' }).click();
    await rowCount(10);
    await page.reload();
    await rowCount(10);
    await page.getByRole('button', { name: 'Clear account' }).click();
    await shown(row(`Yarn number ${yarns}`));
    await shown(page.locator('*:focus').and(page.getByRole('combobox', { name: 'Account' })));
    window.assertFaultless();
  });

  it('that others have published can be read but not changed', async () => {
    const { page } = window;
    await page.goto('/');
    await page
      .getByRole('navigation', { name: 'Thread lists' })
      .getByRole('link', { name: 'Published' })
      .click();
    await shown(heading(page, 'Published threads'));
    await rowCount(1);
    await row('Lengths of skeins').click();
    await shown(heading(page, 'Lengths of skeins'));
    await shown(page.getByRole('note').filter({ hasText: `Published by ${world.email('ben')}` }));
    await shown(page.getByText('You asked: How long is a skein?'));
    await lookAt(page, 'read-only');
    assert.equal(await page.getByRole('textbox').count(), 0, 'nothing to write in');
    assert.equal(await page.getByRole('button', { name: /Publish|More actions|Retry/ }).count(), 0);
    window.assertFaultless();
  });

  it('open from the command palette by title or by destination', async () => {
    const { page } = window;
    await page.goto('/settings/documents');
    await shown(heading(page, 'Documents'));
    await page.keyboard.press('Control+k');
    await shown(page.getByRole('dialog', { name: 'Find' }).getByLabel('Find pages and threads'));
    for (const name of ['My threads', 'Published threads', 'Audit log']) {
      await shown(page.getByRole('navigation', { name: 'Main' }).getByText(name, { exact: true }));
      await shown(page.getByRole('dialog').getByText(name, { exact: true }));
    }
    await page.keyboard.type('number 42');
    await shown(page.getByRole('dialog').getByRole('button', { name: 'Yarn number 42' }));
    await page.keyboard.press('Enter');
    await shown(heading(page, 'Yarn number 42'));
    await gone(page.getByRole('dialog'));
    await page.keyboard.press('Control+k');
    await shown(page.getByRole('dialog', { name: 'Find' }).locator('input:focus'));
    await page.keyboard.type('audit');
    await page.keyboard.press('Enter');
    await shown(heading(page, 'Audit log'));
    await page.keyboard.press('Control+k');
    await shown(page.getByRole('dialog', { name: 'Find' }));
    await page.keyboard.press('Escape');
    await gone(page.getByRole('dialog'));
    window.assertFaultless();
  });

  it('stay open when the palette is still loading and its first letter is a shortcut', async () => {
    const fresh = await openAs(browser, world.ada.client);
    const { page } = fresh;
    const requested = page.waitForRequest('**/palette-*.js');
    let load = () => {};
    const allowed = new Promise<void>((resolve) => {
      load = resolve;
    });
    await page.route('**/palette-*.js', (route) => allowed.then(() => route.continue()));
    await page.goto('/');
    await shown(heading(page, 'My threads'));
    await page.keyboard.press('Control+k');
    await requested;
    await page.keyboard.press('n');
    load();
    await shown(page.getByRole('dialog', { name: 'Find' }));
    assert.equal(new URL(page.url()).pathname, '/');
    await fresh.close();
  });

  it('say that a page cannot be loaded without blaming an update', async () => {
    const fresh = await openAs(browser, world.ada.client);
    const { page } = fresh;
    await page.goto('/');
    await shown(heading(page, 'My threads'));
    await page.route('**/audit-page-*.js', (route) => route.abort());
    await page.getByRole('link', { name: 'Audit log' }).click();
    await shown(heading(page, 'Couldn’t load this page'));
    await shown(page.getByText('You may be offline, or Skein has been updated'));
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Reload' }).click();
    await shown(heading(page, 'Audit log'));
    await page.context().close();
  });

  it('start with a question and an optional account, and go to the top of the list', async () => {
    const { page } = window;
    await page.goto('/');
    await shown(row(`Yarn number ${yarns}`));
    await page.keyboard.press('n');
    await shown(heading(page, 'New thread'));
    await page.getByRole('combobox', { name: 'Account (optional)' }).fill('globex-us');
    await page.getByLabel('Your question').fill('What is wool?');
    const other = await window.tab();
    await other.page.goto('/new');
    await other.page.getByLabel('Your question').fill('What is silk?');
    await page.getByLabel('Your question').press('Enter');
    await shown(heading(page, 'What is wool?'));
    await shown(page.getByText('globex-us'));
    await shown(page.getByText('You asked: What is wool?'));
    await page.getByRole('link', { name: 'My threads' }).first().click();
    await shown(list().getByRole('listitem').first().filter({ hasText: 'What is wool?' }));
    await other.page.reload();
    await shown(other.page.getByText('What is silk?'));
    await other.page.getByLabel('Your question').press('Enter');
    await shown(heading(other.page, 'What is silk?'));
    await other.page.close();
    await page.goto('/new');
    assert.equal(await page.getByLabel('Your question').inputValue(), '', 'what was sent is no draft');
    window.assertFaultless();
  });

  it('have an empty state that says what to do', async () => {
    const fresh = await openAs(browser, world.eve.client);
    await fresh.page.goto('/');
    await shown(fresh.page.getByText('Ask your first question'));
    await lookAt(fresh.page, 'no-threads');
    await shown(fresh.page.getByRole('main').getByRole('link', { name: 'New thread' }));
    await fresh.page.getByRole('link', { name: 'Published' }).first().click();
    await shown(fresh.page.getByText('No published threads yet'));
    await fresh.page.goto('/threads/thr_nothing');
    await shown(heading(fresh.page, 'Thread not found'));
    await fresh.close();
  });
});
