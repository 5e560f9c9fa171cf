import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { assertAccessible } from '../browser/accessibility.ts';
import { keepScreenshot, startBrowser, Window } from '../browser/browser.ts';
import { chooseFromAccountMenu, heading, openAs } from '../browser/people.ts';
import { signedInMember } from '../console/console-client.ts';
import { Service } from '../service.ts';
import { buildSite } from './build-site.ts';

describe('The documentation in a browser', () => {
  let service: Service;
  let browser: Browser;
  before(async () => {
    buildSite();
    [service, browser] = await Promise.all([Service.start(), startBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await service?.end();
  });

  it('can be searched, and nothing violates the content security policy', async () => {
    const reader = await Window.open(browser, service.baseUrl);
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
    await reader.close();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`is accessible in ${colorScheme} mode`, async () => {
      const reader = await Window.open(browser, service.baseUrl, { colorScheme });
      const { page } = reader;
      for (const path of ['getting-started/', 'operating/', 'api-guide/', 'reference/', 'nowhere/']) {
        await page.goto(`/docs/${path}`);
        // Scrollable elements become focusable after the layout.
        await page.waitForFunction(() => {
          const { document } = globalThis as any;
          return [...document.querySelectorAll('pre')].every(
            (block) => block.scrollWidth <= block.clientWidth || block.tabIndex === 0,
          );
        });
        await assertAccessible(page, `${path}, ${colorScheme}`, colorScheme === 'light' ? 'all' : 'colors');
        await keepScreenshot(page, `documentation-${path.slice(0, -1)}-${colorScheme}`);
      }
      await reader.close();
    });
  }

  for (const [device, width] of [
    ['phone', 360],
    ['tablet', 768],
    ['wide window', 1280],
  ] as const) {
    it(`fits a ${device}: nothing is wider than the window`, async () => {
      const reader = await Window.open(browser, service.baseUrl, { viewport: { width, height: 740 } });
      const paths = ['', 'getting-started/', 'operating/', 'spec-coverage/', 'project/architecture/'];
      for (const path of [...paths, 'api-guide/', 'authentication/', 'reference/', 'project/bench/']) {
        await reader.page.goto(`/docs/${path}`);
        const wanted = await reader.page.evaluate<number>('document.documentElement.scrollWidth');
        assert.ok(wanted <= width, `${path}: ${wanted}`);
      }
      await reader.close();
    });
  }

  it('keeps the names in the tables of the reference whole', async () => {
    const reader = await Window.open(browser, service.baseUrl);
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
    await reader.close();
  });

  it('is linked from the console', async () => {
    const admin = await signedInMember(service, 'Demo', 'reader@demo.example', 'admin');
    const reader = await openAs(browser, admin);
    for (const [page, link, title] of [
      ['keys', 'API guide', 'API guide'],
      ['model', 'how the operator sets one up', 'Language models'],
    ] as const) {
      await reader.page.goto(`/settings/${page}`);
      const opened = reader.page.context().waitForEvent('page');
      await reader.page.getByRole('link', { name: link }).click();
      await heading(await opened, title).waitFor();
      await (await opened).close();
    }
    await reader.page.goto('/');
    const opened = reader.page.context().waitForEvent('page');
    await chooseFromAccountMenu(reader.page, 'Documentation');
    assert.equal((await opened).url(), `${service.baseUrl}/docs/`);
    await reader.close();
  });

  it('gives the answer that the picture in the README shows', async () => {
    const member = await signedInMember(service, 'Demo', 'visitor@demo.example');
    const reader = await openAs(browser, member);
    const { page } = reader;
    await page.goto('/new');
    await page.getByLabel('Your question').fill('How long do I have to return yarn?');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByText('Refund and exchange policy').filter({ visible: true }).first().waitFor();
    await page.getByText('within 30 days of purchase').first().waitFor();
    // The picture is docs/console.png.
    await keepScreenshot(page, 'console');
    await reader.close();
  });

  it('switches between curl and TypeScript by keyboard', async () => {
    const reader = await Window.open(browser, service.baseUrl);
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
    await reader.close();
  });
});
