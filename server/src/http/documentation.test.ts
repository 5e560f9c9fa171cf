import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fastify } from 'fastify';
import { servePages } from './app/pages.ts';
import { sendError } from './error-response.ts';

describe('The documentation', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-site-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('shows a building page until it is built, then its pages with their policy', async () => {
    const siteFolder = join(folder, 'dist');
    const app = fastify();
    app.setErrorHandler(sendError);
    await servePages(app, { webFolder: siteFolder, siteFolder, secure: true });
    const open = (url: string) => app.inject({ url, headers: { accept: 'text/html' } });

    for (const url of ['/docs/', '/docs/errors/', '/docs/errors']) {
      const early = await open(url);
      assert.equal(early.statusCode, 503, url);
      assert.match(early.body, /<meta http-equiv="refresh" content="2" \/>/);
    }

    mkdirSync(join(siteFolder, 'errors'), { recursive: true });
    writeFileSync(join(siteFolder, '.policy'), "default-src 'none'");
    writeFileSync(join(siteFolder, '404.html'), '<p>Nothing</p>');
    writeFileSync(join(siteFolder, 'errors/index.html'), '<p>Errors</p>');
    const built = await open('/docs/errors/');
    assert.deepEqual([built.statusCode, built.body], [200, '<p>Errors</p>']);
    assert.equal(built.headers['content-security-policy'], "default-src 'none'");
    assert.equal(built.headers['strict-transport-security'], 'max-age=31536000');
    assert.deepEqual([(await open('/docs/errors')).headers.location], ['/docs/errors/']);
    const missing = await open('/docs/');
    assert.deepEqual([missing.statusCode, missing.body], [404, '<p>Nothing</p>']);
    await app.close();
  });
});
