import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type SettingsWorld, startSettingsWorld } from '../../../harness/console/settings-world.ts';
import { assertDone, assertRefused } from '../../../harness/console/visitor.ts';
import { type ModelServer, startModelServer } from '../../../harness/service/model-server.ts';

const apiKey = 'secret-key-of-the-provider';

describe('The model in the console', () => {
  let provider: ModelServer;
  let world: SettingsWorld;
  before(async () => {
    provider = await startModelServer();
    world = await startSettingsWorld({
      SKEIN_MODEL: 'openai-compatible/loom',
      SKEIN_MODEL_BASE_URL: provider.url,
      SKEIN_MODEL_API_KEY: apiKey,
    });
  });
  after(async () => {
    await world?.end();
    await provider?.close();
  });

  it('shows the configuration without the key', async () => {
    const body = assertDone(await world.ada.get('/model'));
    assert.deepEqual(body, { name: 'openai-compatible/loom', provider: 'openai-compatible' });
  });

  it('accepts a test, which asks the provider one fixed question', async () => {
    const before = (await provider.requests()).length;
    const answer = await world.ada.post('/model/test', { question: 'Write me a novel' });
    const { result } = assertDone(answer);
    assert.equal(result.ok, true);
    assert.equal(result.model, 'openai-compatible/loom');
    assert.ok(result.ms >= result.firstTextMs && result.firstTextMs >= 0);
    assert.ok(result.answer.length > 0);
    assert.ok(!JSON.stringify(result).includes(apiKey));
    const [request, ...others] = (await provider.requests()).slice(before);
    assert.deepEqual(others, []);
    assert.match(JSON.stringify(request?.body), /what is a skein/);
    assert.doesNotMatch(JSON.stringify(request?.body), /novel/);
    const { events } = assertDone(
      await world.ada.get(`/audit?traceId=${answer.headers.get('x-request-id')}`),
    );
    assert.deepEqual(
      events.map(({ action, actor, detail }: any) => [action, actor, detail]),
      [['model.tested', world.email('ada'), { model: 'openai-compatible/loom' }]],
    );
  });

  it("explains an error and its fix, and counts the test against the person's prompt limit", async () => {
    const broken = await startSettingsWorld({
      SKEIN_MODEL: 'openai-compatible/loom',
      SKEIN_MODEL_BASE_URL: 'http://127.0.0.1:65535/v1',
      SKEIN_CONSOLE_PROMPTS_PER_DAY: '1',
    });
    try {
      const { result } = assertDone(await broken.ada.post('/model/test'));
      assert.equal(result.ok, false);
      assert.match(result.error, /could not be reached/);
      assert.match(result.nextStep, /SKEIN_MODEL_BASE_URL/);
      assertRefused(await broken.ada.post('/model/test'), 429, /limit of 1 prompt a day/);
    } finally {
      await broken.end();
    }
  });

  it('protects the configuration and the test from members', async () => {
    assertRefused(await world.ben.get('/model'), 403);
    assertRefused(await world.ben.post('/model/test'), 403);
  });
});
