import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fastify } from 'fastify';
import { servePages } from './app/pages.ts';
import { sendError } from './error-response.ts';

describe('The web application', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-web-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('shows a building page until it is built, then its own page', async () => {
    const webFolder = join(folder, 'dist');
    const app = fastify();
    app.setErrorHandler(sendError);
    await servePages(app, { webFolder, siteFolder: webFolder, secure: true });
    const open = () => app.inject({ url: '/', headers: { accept: 'text/html' } });

    const early = await open();
    assert.equal(early.statusCode, 503);
    assert.match(early.body, /<meta http-equiv="refresh" content="2" \/>/);
    const nonce = /'nonce-([\w-]+)'/.exec(String(early.headers['content-security-policy']))?.[1];
    assert.ok(nonce && early.body.includes(`<style nonce="${nonce}">`));
    assert.equal((await app.inject('/assets/index.js')).statusCode, 404);

    mkdirSync(join(webFolder, 'assets'), { recursive: true });
    writeFileSync(join(webFolder, 'index.html'), '<p>Built</p>');
    writeFileSync(join(webFolder, 'assets/index.js'), '1');
    writeFileSync(join(folder, 'secret.txt'), 'secret');
    const built = await open();
    assert.deepEqual([built.statusCode, built.body], [200, '<p>Built</p>']);
    assert.equal(built.headers['strict-transport-security'], 'max-age=31536000');
    assert.equal((await app.inject('/assets/index.js')).body, '1');
    for (const path of [
      '/assets/../../secret.txt',
      '/assets/%2e%2e/%2e%2e/secret.txt',
      '/assets/..%2f..%2fsecret.txt',
    ]) {
      const { statusCode, body } = await app.inject(path);
      assert.ok(statusCode >= 400 && statusCode < 500 && !body.includes('secret'), `${path}: ${statusCode}`);
    }
    await app.close();
  });
});
