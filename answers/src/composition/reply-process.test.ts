import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createLibrary, type LibraryFixture, writePassageSource } from '../../testing/library-fixture.ts';
import { type ProviderStandIn, startProvider } from '../../testing/provider-stand-in.ts';
import { isolatedModel } from '../isolation/isolated-model.ts';
import type { PassageStore } from '../port/documents.ts';
import { type Model, ModelError, type ReplyEvent } from '../port/model.ts';
import type { PassageSource } from '../threads/model-thread.ts';
import { createModel, type ModelSettings } from './create-model.ts';

const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };

describe('A process that writes one reply', () => {
  let library: LibraryFixture;
  let provider: ProviderStandIn;
  const folder = mkdtempSync(join(tmpdir(), 'skein-reply-process-'));
  let own: PassageSource;
  let reads: string[];
  let store: PassageStore;
  before(async () => {
    library = createLibrary([{ title: 'Returns', passages: ['Unused goods are refunded within 30 days.'] }]);
    own = writePassageSource(library, join(folder, 'documents.json'));
    provider = await startProvider();
    store = new Proxy(library.store, {
      get(target, name: keyof PassageStore) {
        reads.push(name);
        return target[name].bind(target);
      },
    });
  });
  after(async () => {
    await provider?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function collectEvents(model: Model, prompt: string): Promise<ReplyEvent[]> {
    const conversation = [{ role: 'user', content: prompt } as const];
    const { organizationId } = library;
    const { signal } = new AbortController();
    const asked = { organizationId, accountId: null, conversation, attempt: 1, signal };
    try {
      return await Array.fromAsync(model.reply(asked));
    } finally {
      await model.close?.();
    }
  }

  const apart = (settings: ModelSettings) => {
    reads = [];
    const program = new URL('./reply-process.ts', import.meta.url);
    return isolatedModel({ name: settings.model.name, program, settings, store, traceHeaders: () => trace });
  };
  const createSettings = (model: ModelSettings['model'], passages?: PassageSource): ModelSettings => ({
    model,
    limits: { modelSilenceMs: 60_000, replyLengthMax: 200_000 },
    threads: 1,
    passages,
  });
  const extractive = { kind: 'extractive', name: 'extractive' } as const;
  const provided = (by: 'openai-compatible' | 'anthropic') =>
    ({
      kind: 'language',
      name: `${by}/stand-in`,
      provider: by,
      model: 'stand-in',
      baseUrl: provider.url,
      apiKey: 'a secret key',
    }) as const;

  for (const place of ['its own connection', 'the service'] as const) {
    it(`writes what the embedded model does in the service, with documents from ${place}`, async () => {
      const settings = createSettings(extractive, place === 'the service' ? undefined : own);
      const expected = await collectEvents(
        await createModel(settings, library.store, () => ({})),
        'Refunds?',
      );
      assert.ok(expected.some((event) => event.type === 'sources' && event.sources.length === 1));
      assert.deepEqual(await collectEvents(apart(settings), 'Refunds?'), expected);
      assert.equal(reads.length > 0, place === 'the service');
    });
  }

  for (const name of ['openai-compatible', 'anthropic'] as const) {
    it(`writes and corroborates what a language model does (${name}), with its key and the trace`, async () => {
      const settings = createSettings(provided(name), own);
      const expected = await collectEvents(
        await createModel(settings, library.store, () => trace),
        'How are unused goods refunded?',
      );
      assert.ok(expected.some(({ type }) => type === 'verdict'));
      const inService = provider.requests.at(-1)!;
      assert.deepEqual(await collectEvents(apart(settings), 'How are unused goods refunded?'), expected);
      const { headers, body } = provider.requests.at(-1)!;
      assert.notEqual(provider.requests.at(-1), inService);
      assert.deepEqual(body, inService.body);
      assert.equal(headers.traceparent, trace.traceparent);
      assert.deepEqual(
        [headers.authorization, headers['x-api-key']],
        [inService.headers.authorization, inService.headers['x-api-key']],
      );
    });
  }

  it('fails as a language model does', async () => {
    const failed = collectEvents(apart(createSettings(provided('anthropic'), own)), '!status 401');
    await assert.rejects(failed, (error) => error instanceof ModelError && !error.transient);
  });

  it('follows a script', async () => {
    const events = await collectEvents(
      apart(createSettings({ kind: 'scripted', name: 'scripted' })),
      '#say Yes.',
    );
    assert.deepEqual(events, [{ type: 'text', text: 'Yes.' }]);
  });
});
