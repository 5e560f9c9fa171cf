import assert from 'node:assert/strict';
import { ConsoleClient } from './console-client.ts';
import type { OpenIdProvider } from './openid-provider.ts';

/** Follows the redirects to the provider and back, up to the final page. */
export async function goThrough(
  provider: OpenIdProvider,
  browser: ConsoleClient,
  returnTo = '/',
  atCallback = (url: URL): URL => url,
): Promise<string> {
  // The provider starts without any session.
  const there = new ConsoleClient(provider.issuer);
  let url = new URL(`/console/sso/start?returnTo=${encodeURIComponent(returnTo)}`, browser.baseUrl);
  for (let step = 0; step < 10; step += 1) {
    const isHere = url.origin === browser.baseUrl;
    if (isHere && url.pathname === '/console/sso/callback') url = atCallback(url);
    const client = isHere ? browser : there;
    const answer = await client.fetch(url.href);
    const location = answer.headers.get('location');
    assert.ok(location !== null && answer.status >= 302, `${answer.status} ${await answer.text()}`);
    const next = new URL(location, url);
    if (next.origin === browser.baseUrl && !next.pathname.startsWith('/console/'))
      return next.pathname + next.search;
    url = next;
  }
  throw new Error('it leads round in circles');
}
