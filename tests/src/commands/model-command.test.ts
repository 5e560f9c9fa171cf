import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ModelServer, startModelServer } from '../../harness/service/model-server.ts';
import { runCommand, temporaryFolder } from '../../harness/service/service.ts';

describe('skein model test', () => {
  let provider: ModelServer;
  before(async () => {
    provider = await startModelServer();
  });
  after(() => provider.close());

  function test(question: string, environment: Record<string, string> = {}) {
    const settings = { SKEIN_MODEL: 'openai-compatible/loom', SKEIN_MODEL_BASE_URL: provider.url };
    return runCommand(temporaryFolder(), ['model', 'test', question], { ...settings, ...environment });
  }

  it('shows the model, how long it took and the answer', async () => {
    const { exitCode, stdout } = await test('What is a skein?');
    assert.equal(exitCode, 0, stdout);
    assert.match(
      stdout,
      /^ok {4}openai-compatible\/loom: first text after \d+ ms, complete after \d+ ms\n\nThe documents do not say\.\n$/,
    );
  });

  it('explains what went wrong and what to do about it', async () => {
    for (const [question, environment, message] of [
      ['!status 401', {}, /answered 401\.\n +Set SKEIN_MODEL_API_KEY/],
      ['!status 404', {}, /answered 404\.\n +Check the model’s name/],
      ['!status 429', {}, /answered 429\.\n +The provider limits requests/],
      ['!status 503', {}, /answered 503\.\n +The provider has a problem/],
      [
        'Hello',
        { SKEIN_MODEL_BASE_URL: 'http://127.0.0.1:65535/v1' },
        /reached \(ECONNREFUSED\)\.\n +Check that SKEIN_MODEL_BASE_URL/,
      ],
    ] as const) {
      const { exitCode, stdout } = await test(question, environment);
      assert.equal(exitCode, 1, stdout);
      assert.match(stdout, /^FAIL {2}openai-compatible\/loom, after \d+ ms\n/);
      assert.match(stdout, message);
    }
  });

  it('needs no store and no provider for a built-in model', async () => {
    const { exitCode, stdout } = await test('Hello', { SKEIN_MODEL: 'extractive', SKEIN_MODEL_BASE_URL: '' });
    assert.equal(exitCode, 0);
    assert.match(stdout, /^SKEIN_MODEL is extractive: /);
  });
});
