import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { eventually, waitMsMax } from '../service/eventually.ts';
import { root } from '../service/service.ts';
import { assertAccessible, assertContrast } from './accessibility.ts';
import { findChromium } from './chromium.ts';

/** Background traffic of the browser that does not concern the tests. */
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Pages live for seconds: optimizing their code takes more time than it saves.
  '--js-flags=--no-opt --no-maglev',
];

let browser: Promise<Browser> | undefined;

/** The browser that all test files of this process share. Each `Window` has its own session in it. */
export function sharedBrowser(): Promise<Browser> {
  browser ??= startBrowser();
  return browser;
}

// Registered while the module loads, so that it belongs to the whole process and not to the file that asks first.
after(async () => (await browser)?.close());

export async function startBrowser(): Promise<Browser> {
  const { executable, environment } = await findChromium();
  return chromium.launch({
    executablePath: executable,
    args: quiet,
    env: { ...(process.env as Record<string, string>), ...environment },
  });
}

/**
 * A browser window with its own session. An error on the page fails the test that caused it, and so does a request to
 * any host other than the service.
 */
export class Window {
  readonly page: Page;
  readonly #origins: readonly string[];
  readonly #faults: string[] = [];

  private constructor(page: Page, origins: readonly string[]) {
    this.page = page;
    this.#origins = origins;
    page.setDefaultTimeout(waitMsMax);
    page.on('request', (request) => {
      const { origin } = new URL(request.url());
      // URLs that the page creates itself (`data:`) have no origin.
      if (origin !== 'null' && !origins.includes(origin)) this.#faults.push(`asked for ${request.url()}`);
    });
    page.on('pageerror', (error) => this.#faults.push(`${error}`));
    page.on('console', (message) => {
      // Rejected requests are also logged there, and are often what a test checks.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
        this.#faults.push(message.text());
      }
    });
  }

  /** `trusted`: other origins that the page may request. */
  static async open(
    browser: Browser,
    baseUrl: string,
    { trusted = [], ...options }: BrowserContextOptions & { trusted?: readonly string[] } = {},
  ): Promise<Window> {
    const context = await browser.newContext({ baseURL: baseUrl, reducedMotion: 'reduce', ...options });
    return new Window(await context.newPage(), [new URL(baseUrl).origin, ...trusted]);
  }

  /** Opens another tab in the same session. */
  async tab(): Promise<Window> {
    return new Window(await this.page.context().newPage(), this.#origins);
  }

  /** Fails if the page has thrown or violated its own policy since the last check. */
  assertFaultless(): void {
    const faults = this.#faults.splice(0);
    assert.deepEqual(faults, []);
  }

  async close(): Promise<void> {
    await this.page.context().close();
    this.assertFaultless();
  }
}

/** Looks at a page in light and dark colors. Fails if it does not fit its window or is not accessible. */
export async function lookAt(page: Page, name: string, size = 'wide'): Promise<void> {
  await assertFits(page, name);
  for (const scheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.locator(`[data-mantine-color-scheme="${scheme}"]`).waitFor({ state: 'attached' });
    await keepScreenshot(page, `${name}-${scheme}-${size}`);
    const check = scheme === 'light' ? assertAccessible : assertContrast;
    await check(page, `${name}, ${scheme}, ${size}`);
  }
}

/** Fails if the page, a dialog or a table keeps scrolling sideways, or the content of a table's cell stays wider than the cell. */
async function assertFits(page: Page, name: string): Promise<void> {
  const excess = (): Promise<number> =>
    page.evaluate(
      `Math.max(...[document.documentElement, ...document.querySelectorAll(
        'main, main div:has(> table), main td, [role=dialog]')]
        .map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))`,
    );
  await eventually(excess, (px) => px <= 0).catch((error: Error) =>
    assert.fail(`${name} is wider than its window: ${error.message}`),
  );
}

/**
 * Screenshots are for people to look at: the tests take them only if SKEIN_TEST_SCREENSHOTS is set. They take half a
 * second of processor time each.
 */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  if (!process.env.SKEIN_TEST_SCREENSHOTS) return;
  const folder = join(root, 'screenshots');
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
