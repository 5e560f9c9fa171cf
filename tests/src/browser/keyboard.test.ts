import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Locator, Request } from 'playwright-core';
import { sharedBrowser } from '../../harness/browser/browser.ts';
import { gone, openAs, shown, untilAnnounced } from '../../harness/browser/people.ts';
import { ask, untilEnded } from '../../harness/console/thread-calls.ts';
import { assertDone } from '../../harness/console/visitor.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { openSettingsWindow } from './settings-window.ts';

/** Runs in the page. Describes the element if something else is in front of its middle, or if that is out of sight. */
function uncovered(element: any): string {
  const { left, top, width, height } = element.getBoundingClientRect();
  const front = element.ownerDocument.elementFromPoint(left + width / 2, top + height / 2);
  return front !== null && (element.contains(front) || front.contains(element)) ? '' : element.outerHTML;
}

describe('A dialog or button that is used with the keyboard', () => {
  const { world, window, dialog, button } = openSettingsWindow();
  const untilFocused = (element: Locator) => shown(element.and(window().page.locator(':focus')));

  it('stays open until the response arrives, because it may be a secret that is shown once', async () => {
    const { page } = window();
    const { id } = assertDone(await world().ada.post('/key-requests', { name: 'Own' }), 201);
    assertDone(await world().ada.post(`/key-requests/${id}/approve`));
    const { id: appId } = assertDone(await world().ada.post('/applications', { name: 'Old' }), 201);
    const cases: { path: string; link: string; open: string; send?: string; fields?: [string, string][] }[] =
      [
        { path: 'keys', link: 'API keys', open: 'Create key', fields: [['Name', 'Slow']] },
        { path: `key-requests/${id}/reveal`, link: 'API keys', open: 'Reveal Own', send: 'Reveal key' },
        {
          path: 'applications',
          link: 'Applications',
          open: 'Create application',
          fields: [['Name', 'Slow']],
        },
        {
          path: `applications/${appId}/rotate`,
          link: 'Applications',
          open: 'Rotate secret for Old',
          send: 'Rotate secret',
        },
        {
          path: 'members',
          link: 'Members',
          open: 'Add member',
          fields: [['Email address', world().email('cy')]],
          send: 'Add and create link',
        },
      ];
    for (const { path, link, open, fields = [], send = open } of cases) {
      const allowed = Promise.withResolvers<void>();
      const isChange = (request: Request) =>
        request.method() === 'POST' && request.url().endsWith(`/${path}`);
      await page.goto('/settings/usage');
      await page.getByRole('link', { name: link, exact: true }).click();
      await button(open).press('Enter');
      for (const [label, text] of fields) await dialog().getByLabel(label).fill(text);
      await page.route(`**/${path}`, async (route) => {
        if (isChange(route.request())) await allowed.promise;
        await route.continue();
      });
      const sent = page.waitForRequest(isChange);
      await button(send, dialog()).press('Enter');
      await sent;
      await page.keyboard.press('Escape');
      await button('Close', dialog()).click();
      assert.ok(await button('Cancel', dialog()).isDisabled());
      await page.evaluate('history.back()');
      const warned = page.waitForEvent('dialog');
      await Promise.all([warned.then((warning) => warning.dismiss()), page.evaluate('location.reload()')]);
      assert.equal((await warned).type(), 'beforeunload');
      allowed.resolve();
      await shown(dialog().getByTestId('secret'));
      await page.unroute(`**/${path}`);
      await button('Done', dialog()).press('Enter');
      await untilFocused(button(open === 'Reveal Own' ? 'Create key' : open));
    }
    window().assertFaultless();
  });

  it('can be closed while an earlier upload is still being sent', async () => {
    const { page } = window();
    assertDone(await world().ada.upload({ name: 'slow.md' }, '# Slow\n\nText.\n'), 201);
    await page.goto('/settings/documents');
    const allowed = Promise.withResolvers<void>();
    await page.route('**/documents?*', async (route) => {
      if (route.request().method() === 'POST') await allowed.promise;
      await route.continue();
    });
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    const file = { name: 'new.md', mimeType: 'text/markdown', buffer: Buffer.from('# Slow\n\nNew.\n') };
    await page.getByLabel('New file for slow.md').setInputFiles(file);
    await sent;
    await button('Remove slow.md').press('Enter');
    await shown(dialog());
    await page.keyboard.press('Escape');
    await gone(dialog());
    allowed.resolve();
    await untilAnnounced(page, 'slow.md replaced');
    await page.unroute('**/documents?*');
    window().assertFaultless();
  });

  it('has the focus again when its request has failed', async () => {
    const { page } = window();
    await page.goto('/settings/keys');
    await button('Create key').press('Enter');
    await dialog().getByLabel('Name').fill('Laptop');
    await page.route('**/keys', (route) => route.abort());
    await button('Create key', dialog()).press('Enter');
    await shown(dialog().getByText('Couldn’t create the key'));
    await untilFocused(button('Create key', dialog()));
    await page.unroute('**/keys');
    await page.keyboard.press('Enter');
    await shown(dialog().getByTestId('secret'));
    await button('Done', dialog()).press('Enter');
    await untilFocused(button('Create key'));
    window().assertFaultless();
  });

  it('is disabled while another member gets a new link, because one dialog shows one link', async () => {
    const { page } = window();
    const [fay, gus] = [world().email('fay'), world().email('gus')];
    for (const email of [fay, gus])
      assertDone(await world().ada.post('/members', { email, role: 'member', service: false }), 201);
    await page.goto('/settings/members');
    const allowed = Promise.withResolvers<void>();
    await page.route('**/invitation', (route) => allowed.promise.then(() => route.continue()));
    await button(`New link for ${fay}`).press('Enter');
    await shown(button(`New link for ${fay}`).and(page.locator('[data-loading]')));
    assert.ok(await button(`New link for ${gus}`).isDisabled());
    allowed.resolve();
    await shown(dialog().getByText(`Invitation for ${fay}`));
    await button('Done', dialog()).press('Enter');
    await untilFocused(button(`New link for ${fay}`));
    await page.unroute('**/invitation');
    window().assertFaultless();
  });

  it('keeps its title while it fades out', async () => {
    const { page } = window();
    assertDone(await world().ada.post('/applications', { name: 'Faded' }), 201);
    await page.goto('/settings/applications');
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await button('Delete Faded').press('Enter');
    await shown(dialog().getByText('Delete Faded?'));
    const titles = page.evaluate(() => {
      const { document, MutationObserver } = globalThis as any;
      const seen = new Set<string>();
      return new Promise<string[]>((resolve) => {
        new MutationObserver(() => {
          const title = document.querySelector('[role="dialog"] h2');
          if (title === null) resolve([...seen]);
          else seen.add(title.textContent);
        }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
      });
    });
    await button('Cancel', dialog()).press('Enter');
    assert.deepEqual(await titles, ['Delete Faded?']);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    window().assertFaultless();
  });

  it('is visible at 400 % zoom when it gets the focus', async () => {
    const { thread } = await ask(world().ada, 'What is a skein?');
    await untilEnded(world().ada, thread.id);
    for (const name of ['hours.md', 'prices.md'])
      assertDone(await world().ada.upload({ name }, `# ${name}\n\nSee the door.\n`), 201);
    const viewport = { width: 320, height: 256 };
    const zoomed = await openAs(await sharedBrowser(), world().ada.client, { viewport });
    const { page } = zoomed;
    for (const [path, last] of [
      [`/threads/${thread.id}`, 'Send'],
      ['/settings/documents', 'Remove prices.md'],
    ] as const) {
      await page.goto(path);
      await shown(page.getByRole('button', { name: last }));
      for (let isLast = false; !isLast; ) {
        await page.keyboard.press('Tab');
        const focused = page.locator(':focus');
        // The page scrolls to it in the next frame.
        await eventually(
          () => focused.evaluate(uncovered),
          (covered) => covered === '',
        );
        isLast = (await focused.and(page.getByRole('button', { name: last })).count()) > 0;
      }
    }
    await zoomed.close();
  });

  it('lists the shortcuts, each key in one line', async () => {
    const { page } = window();
    await page.goto('/settings/keys');
    await shown(button('Create key'));
    await page.keyboard.press('?');
    const key = (name: string) => dialog().getByText(name, { exact: true });
    await shown(key('Ctrl'));
    const measureHeight = (name: string) => key(name).evaluate((element: any) => element.offsetHeight);
    assert.equal(await measureHeight('Ctrl'), await measureHeight('K'));
    await page.keyboard.press('Escape');
    await gone(dialog());
  });

  it('leaves the focus in its place when it disappears', async () => {
    const { page } = window();
    for (const name of ['One', 'Two']) assertDone(await world().ben.post('/key-requests', { name }), 201);
    await page.goto('/settings/keys');
    await button('Approve Two').press('Enter');
    await shown(page.getByText('Approved, not revealed yet'));
    await untilFocused(button('Decline One'));
    const allowed = Promise.withResolvers<void>();
    await page.route('**/decline', (route) => allowed.promise.then(() => route.continue()));
    await page.keyboard.press('Enter');
    await shown(button('Decline One').and(page.locator('[data-loading]')));
    assert.ok(await button('Approve One').isDisabled());
    assert.equal(
      await page.locator('main button[data-loading]').count(),
      1,
      'only the pressed button is busy',
    );
    allowed.resolve();
    await shown(page.getByText('Declined'));
    await untilFocused(button('Create key'));
    window().assertFaultless();
  });
});
