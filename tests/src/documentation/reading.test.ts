import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { assertAccessible } from '../browser/accessibility.ts';
import { keepScreenshot, startBrowser, Window } from '../browser/browser.ts';
import { chooseFromAccountMenu, openAs } from '../browser/people.ts';
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

  it('fits a phone: nothing is wider than the window', async () => {
    const reader = await Window.open(browser, service.baseUrl, { viewport: { width: 360, height: 740 } });
    for (const path of ['', 'getting-started/', 'operating/', 'spec-coverage/', 'project/architecture/']) {
      await reader.page.goto(`/docs/${path}`);
      const width = await reader.page.evaluate<number>('document.documentElement.scrollWidth');
      assert.ok(width <= 360, `${path}: ${width}`);
    }
    await reader.close();
  });

  it('is linked from the console', async () => {
    const member = await signedInMember(service, 'Demo', 'reader@demo.example');
    const reader = await openAs(browser, member);
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
