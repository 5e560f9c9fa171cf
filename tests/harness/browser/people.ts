import assert from 'node:assert/strict';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import type { ConsoleClient } from '../console/console-client.ts';
import type { Service } from '../service/service.ts';
import { Window } from './browser.ts';

/** The link that `skein serve` prints after creating its demo. */
export function demoLink(service: Service): string {
  const link = service.output
    .map((line) => line.trim())
    .find((line) => /^https?:\S+\/invitation#\S+$/.test(line));
  assert.ok(link !== undefined, `no link in\n${service.output.join('\n')}`);
  return link;
}

/** Fills in and submits the sign-in page. */
export async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Opens a window for a person who signed in over HTTP, which is faster than using the page. The page has its own tests. */
export async function openAs(
  browser: Browser,
  client: ConsoleClient,
  options: BrowserContextOptions = {},
): Promise<Window> {
  const window = await Window.open(browser, client.baseUrl, options);
  const cookies = [...client.cookies].map(([name, value]) => ({ name, value, url: client.baseUrl }));
  assert.ok(cookies.length > 0, 'nobody has signed in');
  await window.page.context().addCookies(cookies);
  return window;
}

export function heading(page: Page, name: string | RegExp): Locator {
  return page.getByRole('heading', { level: 1, name, ...(typeof name === 'string' && { exact: true }) });
}

/** Waits until the element is visible. */
export function shown(locator: Locator): Promise<void> {
  return locator.first().waitFor();
}

export function gone(locator: Locator): Promise<void> {
  return locator.first().waitFor({ state: 'hidden' });
}

/** Returns a function that counts the page's requests since then to URLs with this ending. */
export function countRequests(page: Page, ending: string): () => number {
  let count = 0;
  page.on('request', (request) => {
    if (request.url().endsWith(ending)) count += 1;
  });
  return () => count;
}

/** Waits until the text is the last one announced to screen readers. */
export async function untilAnnounced(page: Page, text: string): Promise<void> {
  await page.getByTestId('announcer').getByText(text, { exact: true }).waitFor({ state: 'attached' });
}

/** Chooses from the menu at the bottom of the sidebar. */
export async function chooseFromAccountMenu(page: Page, item: string): Promise<void> {
  await page.getByRole('button', { name: /^Your account:/ }).click();
  await page.getByRole('menuitem', { name: item }).click();
}
