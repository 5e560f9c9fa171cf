import assert from 'node:assert/strict';
import { request } from 'node:http';
import { before, describe, it } from 'node:test';
import { eventually } from '../../harness/service/eventually.ts';
import type { Service } from '../../harness/service/service.ts';
import { sharedService } from '../../harness/service/shared-service.ts';

const html = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

describe('The web application', () => {
  let service: Service;
  before(async () => {
    service = await sharedService();
    // A service that was just updated may still be building it.
    await eventually(
      () => open('/'),
      ({ status }) => status === 200,
      120_000,
    );
  });

  const open = (path: string, headers: Record<string, string> = html): Promise<Response> =>
    fetch(`${service.baseUrl}${path}`, { headers });

  /** The scripts and styles that the page loads. */
  async function assets(): Promise<string[]> {
    const paths = [...(await (await open('/')).text()).matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)];
    assert.ok(paths.length >= 2, 'a script and a style at least');
    return paths.map(([, path]) => path as string);
  }

  it('is one page, with a content security policy that allows nothing from other hosts', async () => {
    const answer = await open('/');
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
    const nonce = /'nonce-([\w-]{22})'/.exec(answer.headers.get('content-security-policy') ?? '')?.[1];
    assert.equal(
      answer.headers.get('content-security-policy'),
      `default-src 'none'; script-src 'self' 'nonce-${nonce}'; style-src 'self' 'nonce-${nonce}'; ` +
        "img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; " +
        "frame-ancestors 'none'",
    );
    assert.equal(answer.headers.get('referrer-policy'), 'same-origin');
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.match(answer.headers.get('permissions-policy') ?? '', /camera=\(\)/);
    assert.equal(answer.headers.get('strict-transport-security'), null, 'not over plain HTTP');
    const page = await answer.text();
    assert.match(page, /<div id="root">/);
    assert.ok(!page.includes('SKEIN_NONCE'));
    for (const [tag] of page.matchAll(/<(script|style|link rel="(stylesheet|modulepreload)")[^>]*>/g))
      assert.ok(tag.includes(`nonce="${nonce}"`), tag);
    assert.ok(!/(?:src|href)="(?:https?:)?\/\//.test(page), 'nothing comes from elsewhere');
  });

  it('has a new nonce every time, and is not cached', async () => {
    const answers = await Promise.all([open('/'), open('/'), open('/sign-in')]);
    const policies = answers.map(({ headers }) => headers.get('content-security-policy'));
    assert.equal(new Set(policies).size, 3);
    for (const { headers } of answers) assert.equal(headers.get('cache-control'), 'no-cache');
  });

  it('is cached by browsers forever when its name contains a hash of its contents', async () => {
    for (const path of await assets()) {
      const { status, headers } = await open(path, { accept: '*/*' });
      assert.equal(status, 200, path);
      assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable', path);
      assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
    }
    assert.equal((await open('/favicon.svg')).headers.get('content-type'), 'image/svg+xml');
  });

  it('is sent compressed to clients that accept it', async () => {
    const [script] = (await assets()).filter((path) => path.endsWith('.js')) as [string];
    const plain = await encoded(script, 'identity');
    assert.equal(plain.encoding, undefined);
    for (const [accepted, encoding] of [
      ['gzip, deflate, br', 'br'],
      ['gzip', 'gzip'],
    ] as const) {
      const answer = await encoded(script, accepted);
      assert.equal(answer.encoding, encoding);
      assert.equal(answer.type, plain.type);
      assert.ok(answer.bytes < plain.bytes / 2, `${answer.bytes} of ${plain.bytes} bytes`);
    }
  });

  it('opens at every URL that people receive, whatever the Accept header', async () => {
    for (const path of ['/', '/threads/thr_01', '/invitation', '/sign-in?returnTo=%2F'])
      for (const headers of [html, { accept: '*/*' }])
        assert.equal((await open(path, headers)).status, 200, path);
    for (const path of ['/settings/keys', '/published', '/nowhere/at/all'])
      assert.equal((await open(path)).status, 200, path);
    const head = await fetch(`${service.baseUrl}/`, { method: 'HEAD', headers: html });
    assert.deepEqual([head.status, await head.text()], [200, '']);
  });

  it('is not served to programs at unknown paths', async () => {
    const missing: [string, Record<string, string>][] = [
      ['/nowhere', { accept: '*/*' }],
      ['/', { accept: 'application/json' }],
      ['/metrics', html],
      ['/api', html],
      ['/api/v2/threads', html],
      ['/console/nowhere', html],
      ['/oauth2/nowhere', html],
      ['/.well-known/security.txt', html],
      ['/assets/nowhere.js', html],
      ['/assets/', html],
      ['//evil.example/x', html],
    ];
    for (const [path, headers] of missing) {
      const answer = await open(path, headers);
      assert.equal(answer.status, 404, path);
      assert.equal(((await answer.json()) as any).error.code, 'NOT_FOUND', path);
    }
    assert.equal((await open('/api/v1/nowhere')).status, 401, 'nor in front of the door of the public API');
    for (const method of ['POST', 'PUT', 'DELETE'])
      assert.equal((await fetch(`${service.baseUrl}/`, { method, headers: html })).status, 404, method);
  });

  it('is not part of the public API', async () => {
    const document = (await (await open('/openapi.json')).json()) as { paths: Record<string, unknown> };
    const paths = Object.keys(document.paths);
    assert.ok(paths.length > 0);
    for (const path of paths) assert.ok(path.startsWith('/api/v1/'), path);
  });

  /** The raw body: fetch would decompress it. */
  function encoded(
    path: string,
    accepted: string,
  ): Promise<{ encoding: string | undefined; type: string | undefined; bytes: number }> {
    return new Promise((resolve, reject) => {
      request(`${service.baseUrl}${path}`, { headers: { 'accept-encoding': accepted } }, (answer) => {
        let bytes = 0;
        answer.on('data', (part: Buffer) => {
          bytes += part.length;
        });
        const { 'content-encoding': encoding, 'content-type': type } = answer.headers;
        answer.on('end', () => resolve({ encoding, type, bytes }));
      })
        .on('error', reject)
        .end();
    });
  }
});
