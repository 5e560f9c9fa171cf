import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { root } from '../service.ts';
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
];

export async function startBrowser(): Promise<Browser> {
  const { executable, environment } = await findChromium();
  return chromium.launch({
    executablePath: executable,
    args: quiet,
    env: { ...(process.env as Record<string, string>), ...environment },
  });
}

/**
 * A window of a person of its own, in which a fault of the page fails the test that caused it. It is a fault, too, to ask
 * anyone but the service for anything.
 */
export class Window {
  readonly page: Page;
  readonly #origins: readonly string[];
  readonly #faults: string[] = [];

  private constructor(page: Page, origins: readonly string[]) {
    this.page = page;
    this.#origins = origins;
    page.setDefaultTimeout(15_000);
    page.on('request', (request) => {
      const { origin } = new URL(request.url());
      // What a page makes up by itself (`data:`) has no origin.
      if (origin !== 'null' && !origins.includes(origin)) this.#faults.push(`asked for ${request.url()}`);
    });
    page.on('pageerror', (error) => this.#faults.push(`${error}`));
    page.on('console', (message) => {
      // Rejected requests are logged there, too, and are often what a test checks.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
        this.#faults.push(message.text());
      }
    });
  }

  /** `trusted`: origins other than the service's that it may go to. */
  static async open(
    browser: Browser,
    baseUrl: string,
    { trusted = [], ...options }: BrowserContextOptions & { trusted?: readonly string[] } = {},
  ): Promise<Window> {
    const context = await browser.newContext({ baseURL: baseUrl, reducedMotion: 'reduce', ...options });
    return new Window(await context.newPage(), [new URL(baseUrl).origin, ...trusted]);
  }

  /** Another tab of the same person. */
  async tab(): Promise<Window> {
    return new Window(await this.page.context().newPage(), this.#origins);
  }

  /** Fails if the page has thrown, or has broken its own policy, since the last look. */
  assertFaultless(): void {
    const faults = this.#faults.splice(0);
    assert.deepEqual(faults, []);
  }

  async close(): Promise<void> {
    await this.page.context().close();
    this.assertFaultless();
  }
}

/**
 * Looks at a page as it is, in light and in dark colours: leaves pictures for people to look at, and fails where not
 * everyone can use it.
 */
export async function lookAt(page: Page, name: string, size = 'wide'): Promise<void> {
  await assertFits(page, name);
  for (const scheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.locator(`[data-mantine-color-scheme="${scheme}"]`).waitFor({ state: 'attached' });
    await keepScreenshot(page, `${name}-${scheme}-${size}`);
    await assertAccessible(page, `${name}, ${scheme}, ${size}`, scheme === 'light' ? 'all' : 'contrast');
  }
}

/** Nothing is to be scrolled to at the side, nor cut off there. */
async function assertFits(page: Page, name: string): Promise<void> {
  const excess: number = await page.evaluate(
    `Math.max(...[document.documentElement, ...document.querySelectorAll('main')]
      .map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))`,
  );
  assert.ok(excess <= 0, `${name} is ${excess} px wider than its window`);
}

/** To be looked at by people; the folder is not kept. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  const folder = join(root, 'screenshots');
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');

/** `contrast` alone is asked for where the rest was asked before: nothing else depends on colours. */
type Rules = 'all' | 'contrast';

/** Fails on what axe-core finds serious or critical, by the rules of WCAG 2.2 AA. */
export async function assertAccessible(page: Page, what: string, rules: Rules = 'all'): Promise<void> {
  // Handed over by the debugger's protocol: the page's own policy admits no foreign script.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axeSource);
  const violations = await page.evaluate(async (asked) => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<any> } };
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const found = await axe.run({
      runOnly: asked === 'all' ? tags : ['color-contrast'],
      resultTypes: ['violations'],
    });
    return found.violations.map(({ id, impact, nodes }: any) => ({
      id,
      impact,
      where: nodes.slice(0, 5).map(({ html, failureSummary }: any) => `${html} ${failureSummary}`),
    }));
  }, rules);
  const grave = violations.filter(({ impact }: any) => impact === 'serious' || impact === 'critical');
  assert.deepEqual(grave, [], `${what}: ${JSON.stringify(grave, undefined, 2)}`);
}
