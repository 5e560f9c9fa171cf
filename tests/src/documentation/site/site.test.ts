import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sharedBrowser } from '../../../harness/browser/browser.ts';
import { root, type Service } from '../../../harness/service/service.ts';
import { startWithoutDemo } from '../../../harness/service/shared-service.ts';
import { buildSite } from './build-site.ts';

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

describe('The documentation at /docs', () => {
  let service: Service;
  /** Every page by its path, found by following links from the first. */
  const pages = new Map<string, string>();
  before(async () => {
    buildSite();
    service = await startWithoutDemo();
    await visit('/docs/');
  });
  after(() => service?.end());

  const open = (path: string, headers: Record<string, string> = html): Promise<Response> =>
    fetch(`${service.baseUrl}${path}`, { headers });

  async function visit(path: string): Promise<void> {
    if (pages.has(path)) return;
    const answer = await open(path);
    assert.equal(answer.status, 200, path);
    const page = await answer.text();
    pages.set(path, page);
    for (const { pathname } of localLinks(path, page)) {
      if (/^\/docs\/(?!files|_astro)([\w/-]+\/)?$/.test(pathname)) await visit(pathname);
    }
  }

  function localLinks(from: string, page: string): URL[] {
    return [...page.matchAll(/<(?:a|link|script|img)\b[^>]*?\s(?:href|src)="([^"]+)"/g)]
      .map(([, url]) => new URL((url as string).replaceAll('&amp;', '&'), `${service.baseUrl}${from}`))
      .filter(({ origin }) => origin === service.baseUrl);
  }

  it('has a page for every document, with its title once', () => {
    const documents = globSync(['docs/**/*.md', '*.md'], { cwd: root });
    assert.ok(documents.length > 30);
    const titles = [...pages.values()].map((page) => {
      const headings = [...page.matchAll(/<h1[^>]*>([\s\S]*?)<\/h1>/g)];
      assert.equal(headings.length, 1);
      const heading = plain(headings[0]?.[1] as string);
      const [, title] = /<title>([\s\S]*?)<\/title>/.exec(page) ?? [];
      assert.ok(title?.includes(' | Skein') && plain(title).startsWith(heading), `${title}, ${heading}`);
      return heading;
    });
    for (const file of documents) {
      const [, title] = /^# (.+)\n/.exec(readFileSync(join(root, file), 'utf8')) ?? [];
      assert.ok(titles.includes(title?.replaceAll('`', '') as string), `${file}: ${title}`);
    }
  });

  it('has no broken links, to pages or to anchors', async () => {
    const seen = new Map<string, number>();
    let anchors = 0;
    for (const [path, page] of pages) {
      for (const { pathname, hash } of localLinks(path, page)) {
        if (!pages.has(pathname) && !seen.has(pathname)) seen.set(pathname, (await open(pathname)).status);
        assert.ok(pages.has(pathname) || seen.get(pathname) === 200, `${path} links to ${pathname}`);
        const target = pages.get(pathname);
        if (hash === '' || target === undefined) continue;
        anchors += 1;
        const id = decodeURIComponent(hash.slice(1));
        assert.ok(target.includes(` id="${id}"`), `${path} links to ${pathname}${hash}`);
      }
    }
    assert.ok(anchors > 100 && pages.has('/docs/reference/'));
    for (const [path, page] of pages)
      assert.ok(!/href="[^"]*\.md[#"]/.test(page), `${path} links to Markdown`);
  });

  it('shows the place of every page in the sidebar', () => {
    for (const [path, page] of pages)
      assert.ok(page.includes(`<a href="${path}" aria-current="page"`), `${path} is not in the sidebar`);
  });

  it('links to the console and the API reference at the top of every page', () => {
    for (const [path, page] of pages) {
      const [, header = ''] = /<header[^>]*>([\s\S]*?)<\/header>/.exec(page) ?? [];
      assert.match(header, /href="\/docs\/reference\/"/, path);
      assert.match(header, /href="\/"/, path);
    }
  });

  it('describes every operation and object of openapi.json in the API reference', async () => {
    const document = (await (await open('/openapi.json')).json()) as any;
    const page = pages.get('/docs/reference/')!;
    for (const [path, methods] of Object.entries<any>(document.paths)) {
      assert.ok(page.includes(path), path);
      for (const { summary, parameters = [] } of Object.values<any>(methods)) {
        assert.ok(page.includes(`>${summary}<`), summary);
        for (const { name } of parameters) assert.ok(page.includes(`>${name}</code>`), name);
      }
    }
    for (const [name, { properties }] of Object.entries<any>(document.components.schemas)) {
      assert.ok(page.includes(` id="${name.toLowerCase()}"`), name);
      for (const property of Object.keys(properties))
        assert.ok(page.includes(`>${property}</code>`), property);
    }
  });

  it('fits a window of 320 pixels', async () => {
    const page = await (await sharedBrowser()).newPage({ viewport: { width: 320, height: 256 } });
    const withTables = [...pages].filter(([, text]) => text.includes('<table'));
    assert.ok(withTables.length > 10);
    for (const [path] of withTables) {
      await page.goto(`${service.baseUrl}${path}`);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320, path);
    }
    await page.close();
  });

  it('shows curl and TypeScript as tabs', () => {
    const guide = pages.get('/docs/api-guide/')!;
    assert.ok([...guide.matchAll(/<fieldset class="tabs">/g)].length >= 5);
    assert.match(guide, /<label for="tabs-1-typescript">TypeScript<\/label>/);
  });

  it('allows only its own scripts, and cannot be embedded in other pages', async () => {
    for (const [path, page] of pages) {
      const { headers } = await open(path);
      const policy = headers.get('content-security-policy') ?? '';
      assert.match(policy, /^default-src 'none'; script-src 'self' 'wasm-unsafe-eval' 'sha256-/);
      assert.ok(policy.includes("frame-ancestors 'none'") && policy.includes("base-uri 'none'"));
      assert.ok(!/script-src[^;]*'unsafe-(inline|eval)'/.test(policy));
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      const inline = [...page.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)];
      assert.ok(inline.length > 0);
      for (const [, script] of inline) {
        const hash = createHash('sha256')
          .update(script as string)
          .digest('base64');
        assert.ok(policy.includes(`'sha256-${hash}'`), `${path}: a script that the policy does not know`);
      }
    }
  });

  it('redirects a URL without the trailing slash, and reports a missing page', async () => {
    const moved = await fetch(`${service.baseUrl}/docs/errors`, { redirect: 'manual' });
    assert.deepEqual([moved.status, moved.headers.get('location')], [308, '/docs/errors/']);
    assert.equal((await open('/docs')).url, `${service.baseUrl}/docs/`);
    const missing = await open('/docs/nowhere/');
    assert.equal(missing.status, 404);
    assert.match(await missing.text(), /<title>Page not found[\s\S]*href="\/docs\/getting-started\/"/);
    const toMachines = await open('/docs/nowhere', { accept: 'application/json' });
    assert.equal(toMachines.status, 404);
    assert.equal(((await toMachines.json()) as any).error.code, 'NOT_FOUND');
  });

  it('serves only files that were built for it', async () => {
    const paths = [
      '/docs/.built-from',
      '/docs/.policy',
      '/docs/..%2f..%2fpackage.json',
      '/docs/%2e%2e/%2e%2e/package.json',
      '/docs/files/..%2f..%2fpackage.json',
      '/docs/%2fetc%2fpasswd',
      '//docs/errors/',
    ];
    for (const path of paths) {
      const { status } = await raw(path, 'identity');
      assert.ok(status >= 400 && status < 500, `${path}: ${status}`);
    }
  });

  it('is sent compressed to clients that accept it, and cached when its name contains a hash', async () => {
    const plainly = await raw('/docs/operating/', 'identity');
    const compressed = await raw('/docs/operating/', 'gzip, br');
    assert.deepEqual([plainly.encoding, compressed.encoding], [undefined, 'br']);
    assert.ok(compressed.bytes < plainly.bytes / 3, `${compressed.bytes} of ${plainly.bytes}`);
    const [, style] = /href="(\/docs\/_astro\/[^"]+\.css)"/.exec(pages.get('/docs/') ?? '') ?? [];
    assert.ok(style);
    assert.equal((await open(style)).headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal((await open('/docs/operating/')).headers.get('cache-control'), 'no-cache');
  });

  /** The raw response: fetch would decompress it and normalize paths. */
  function raw(
    path: string,
    accepted: string,
  ): Promise<{ status: number; encoding: string | undefined; bytes: number }> {
    const { hostname, port } = new URL(service.baseUrl);
    return new Promise((resolve, reject) => {
      const headers = { 'accept-encoding': accepted };
      request({ hostname, port, path, headers }, async (answer) => {
        let bytes = 0;
        for await (const part of answer) bytes += part.length;
        const { 'content-encoding': encoding } = answer.headers;
        resolve({ status: answer.statusCode as number, encoding, bytes });
      })
        .on('error', reject)
        .end();
    });
  }
});

function plain(markup: string): string {
  return markup
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&amp;', '&')
    .replaceAll(/&#39;|’/g, "'")
    .trim();
}
