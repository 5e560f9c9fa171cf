import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { assertAccessible } from '../../../harness/browser/accessibility.ts';
import { keepScreenshot, startBrowser, Window } from '../../../harness/browser/browser.ts';
import { chooseFromAccountMenu, heading, openAs } from '../../../harness/browser/people.ts';
import { signedInMember } from '../../../harness/console/console-client.ts';
import { Service } from '../../../harness/service/service.ts';
import { buildSite } from './build-site.ts';

describe('The documentation in a browser', () => {
  let service: Service;
  let browser: Browser;
  /** Somebody who has not signed in. */
  let reader: Window;
  before(async () => {
    buildSite();
    [service, browser] = await Promise.all([Service.start(), startBrowser()]);
    reader = await Window.open(browser, service.baseUrl);
  });
  after(async () => {
    await reader?.close();
    await browser?.close();
    await service?.end();
  });

  it('can be searched, and nothing violates the content security policy', async () => {
    const { page } = reader;
    await page.goto('/docs/');
    await page.getByRole('button', { name: 'Search' }).click();
    const field = page.getByRole('dialog').locator('input').first();
    const result = (name: string) => page.getByRole('dialog').getByRole('link', { name, exact: true });
    await field.fill('docker');
    await result('Containers').first().waitFor();
    const results = await page.getByRole('dialog').getByRole('link').allInnerTexts();
    assert.equal(results[0], 'Containers');
    assert.ok(
      !results.includes('Documents'),
      `whole words, not everything with "doc": ${results.join(', ')}`,
    );
    await field.fill('idempotency');
    const found = result('Errors and retries');
    await found.waitFor();
    await keepScreenshot(page, 'documentation-search');
    await found.click();
    await page.waitForURL('**/docs/errors-and-retries/**');
    assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'Errors and retries');
    reader.assertFaultless();
  });

  it('is accessible in light and dark mode', async () => {
    const { page } = reader;
    // Pages are loaded in either mode, and then switch to the other one.
    let modes: ('dark' | 'light')[] = ['dark', 'light'];
    for (const path of ['getting-started/', 'operating/', 'api-guide/', 'reference/', 'nowhere/']) {
      await page.emulateMedia({ colorScheme: modes[0]! });
      await page.goto(`/docs/${path}`);
      // Scrollable elements become focusable after the layout.
      await page.waitForFunction(() => {
        const { document } = globalThis as any;
        return [...document.querySelectorAll('pre')].every(
          (block) => block.scrollWidth <= block.clientWidth || block.tabIndex === 0,
        );
      });
      for (const colorScheme of modes) {
        await page.emulateMedia({ colorScheme });
        await page.locator(`html[data-theme="${colorScheme}"]`).waitFor({ state: 'attached' });
        await assertAccessible(page, `${path}, ${colorScheme}`, colorScheme === 'light' ? 'all' : 'colors');
        await keepScreenshot(page, `documentation-${path.slice(0, -1)}-${colorScheme}`);
      }
      modes = modes.toReversed();
    }
    reader.assertFaultless();
  });

  it('fits a phone, a tablet and a wide window: nothing is wider than the window', async () => {
    const paths = ['', 'getting-started/', 'operating/', 'spec-coverage/', 'project/architecture/'];
    for (const path of [...paths, 'api-guide/', 'authentication/', 'reference/', 'project/bench/']) {
      await reader.page.goto(`/docs/${path}`);
      for (const width of [360, 768, 1280]) {
        await reader.page.setViewportSize({ width, height: 740 });
        const wanted = await reader.page.evaluate<number>('document.documentElement.scrollWidth');
        assert.ok(wanted <= width, `${path}: ${wanted}`);
      }
    }
    reader.assertFaultless();
  });

  it('keeps the names in the tables of the reference whole', async () => {
    await reader.page.goto('/docs/reference/');
    const cells = reader.page.locator('.sl-markdown-content').locator('th, td:first-child, td:nth-child(2)');
    // A name that is broken has several boxes, one for each line.
    const broken = await cells.evaluateAll((all: any[]) =>
      all
        .filter(({ innerText }) => /^\w+$/.test(innerText.trim()))
        .filter((cell) => {
          const range = (globalThis as any).document.createRange();
          range.selectNodeContents(cell.querySelector('code') ?? cell);
          return new Set(Array.from(range.getClientRects(), ({ top }: any) => Math.round(top))).size > 1;
        })
        .map(({ innerText }) => innerText),
    );
    assert.ok((await cells.count()) > 20, 'there are tables');
    assert.deepEqual(broken, []);

    await reader.page.setViewportSize({ width: 320, height: 740 });
    await reader.page.goto('/docs/errors/');
    const status = reader.page.getByRole('columnheader', { name: 'status' }).first();
    const lines = await status.evaluate((cell: any) => {
      const range = cell.ownerDocument.createRange();
      range.selectNodeContents(cell);
      return range.getClientRects().length;
    });
    assert.equal(lines, 1, 'the heading of a narrow column');
    assert.equal(await reader.page.evaluate('document.documentElement.scrollWidth'), 320);
    await reader.page.setViewportSize({ width: 1280, height: 740 });
    reader.assertFaultless();
  });

  it('is linked from the console', async () => {
    const admin = await signedInMember(service, 'Demo', 'reader@demo.example', 'admin');
    const signedIn = await openAs(browser, admin);
    for (const [page, link, title] of [
      ['keys', 'API guide', 'API guide'],
      ['model', 'how the operator sets one up', 'Language models'],
    ] as const) {
      await signedIn.page.goto(`/settings/${page}`);
      const opened = signedIn.page.context().waitForEvent('page');
      await signedIn.page.getByRole('link', { name: link }).click();
      await heading(await opened, title).waitFor();
      await (await opened).close();
    }
    await signedIn.page.goto('/');
    const opened = signedIn.page.context().waitForEvent('page');
    await chooseFromAccountMenu(signedIn.page, 'Documentation');
    assert.equal((await opened).url(), `${service.baseUrl}/docs/`);
    await signedIn.close();
  });

  it('gives the answer that the picture in the README shows', async () => {
    const member = await signedInMember(service, 'Demo', 'visitor@demo.example');
    const signedIn = await openAs(browser, member);
    const { page } = signedIn;
    await page.goto('/new');
    await page.getByLabel('Your question').fill('How long do I have to return yarn?');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByText('Refund and exchange policy').filter({ visible: true }).first().waitFor();
    await page.getByText('within 30 days of purchase').first().waitFor();
    // The picture is docs/console.png.
    await keepScreenshot(page, 'console');
    await signedIn.close();
  });

  it('switches between curl and TypeScript by keyboard', async () => {
    const { page } = reader;
    await page.goto('/docs/api-guide/');
    const sample = page.locator('.tabs').first();
    assert.equal(await sample.locator('.tab').nth(1).isVisible(), false);
    await sample.getByLabel('curl').focus();
    await page.keyboard.press('ArrowRight');
    assert.equal(await sample.locator('.tab').nth(0).isVisible(), false);
    assert.equal(await sample.locator('.tab').nth(1).isVisible(), true);
    await keepScreenshot(page, 'documentation-tabs');
    await page.goto('/docs/reference/');
    await keepScreenshot(page, 'documentation-reference');
    reader.assertFaultless();
  });
});
