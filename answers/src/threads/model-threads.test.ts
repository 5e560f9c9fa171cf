import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLibrary, type LibraryFixture, writePassageSource } from '../../testing/library-fixture.ts';
import { extractiveModel } from '../models/extractive.ts';
import type { PassageStore } from '../port/documents.ts';
import { type Model, ModelError, type ReplyEvent } from '../port/model.ts';
import { ModelThreads, type ThreadSettings } from './model-threads.ts';

const program = new URL('../../testing/misbehaving-thread.ts', import.meta.url);
const noStore: PassageStore = {
  findPassages: () => assert.fail('nothing is searched'),
  readPassages: () => assert.fail('nothing is read'),
  outlineDocuments: () => assert.fail('nothing is outlined'),
};

const brokenPassages = `export function openPassages() {
  const read = async () => { throw new Error('The disk is gone.'); };
  return { findPassages: read, readPassages: read, outlineDocuments: read };
}`;

const neverAborted = new AbortController().signal;

function request(prompt: string, organization = 'org_1', signal = neverAborted) {
  return {
    organizationId: organization,
    accountId: null,
    conversation: [{ role: 'user', content: prompt } as const],
    attempt: 1,
    signal,
  };
}

async function collectReply(model: Model, ...asked: Parameters<typeof request>): Promise<ReplyEvent[]> {
  const events: ReplyEvent[] = [];
  for await (const event of model.reply(request(...asked))) events.push(event);
  return events;
}

describe('Model threads', () => {
  let fixture: LibraryFixture;
  before(() => {
    fixture = createLibrary([
      { title: 'Returns', passages: ['Unused goods are refunded within 30 days.'] },
      { title: 'Parcels', passages: ['Parcels to Norway cost 12 euros.'] },
    ]);
  });
  const searchRefunds = (
    threads: ModelThreads,
    organization = fixture.organizationId,
    signal = neverAborted,
  ) => threads.search(organization, null, 'refunds', 1, signal);

  it('write the same reply as the model does on the event loop', async () => {
    const threads = new ModelThreads({ store: fixture.store, threads: 1 });
    for (const prompt of [
      'How long do refunds take?',
      'What does a parcel to Norway cost?',
      'Hello!',
      'Who are you?',
    ]) {
      const here = await collectReply(extractiveModel(fixture.store), prompt, fixture.organizationId);
      assert.ok(here.length > 0);
      assert.deepEqual(await collectReply(threads, prompt, fixture.organizationId), here);
    }
  });

  it('read documents themselves if they can', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'skein-threads-'));
    const passages = writePassageSource(fixture, join(folder, 'documents.json'));
    const threads = new ModelThreads({ store: noStore, threads: 1, passages });
    const found = await searchRefunds(threads);
    assert.equal(found.passages[0]?.text, 'Unused goods are refunded within 30 days.');
    await threads.close();
    rmSync(folder, { recursive: true });
  });

  it('ask the main thread if their own connection fails', async () => {
    const threads = new ModelThreads({
      store: fixture.store,
      threads: 1,
      passages: { module: `data:text/javascript,${encodeURIComponent(brokenPassages)}`, location: '' },
    });
    const found = await searchRefunds(threads);
    assert.equal(found.passages[0]?.title, 'Returns');
  });

  it('rank and corroborate for language models', async () => {
    const threads = new ModelThreads({ store: fixture.store, threads: 1 });
    const found = await searchRefunds(threads);
    assert.equal(found.searched, 2);
    assert.deepEqual(
      found.passages.map(({ title }) => title),
      ['Returns'],
    );
    const checked = threads.corroborate(
      'Unused goods are refunded within 30 days [1].',
      found.passages,
      neverAborted,
      fixture.organizationId,
    );
    const types: string[] = [];
    for await (const { type } of checked) types.push(type);
    assert.deepEqual(types, ['step', 'revision', 'sources', 'verdict']);
  });

  it('retry an unavailable store until the task is aborted, and then take the next task', async () => {
    let failures = 0;
    let away = true;
    const { store } = fixture;
    const findPassages: typeof store.findPassages = (...args) => {
      if (!away) return store.findPassages(...args);
      failures += 1;
      if (failures === 3) abort.abort();
      if (failures === 6) away = false;
      return Promise.reject(new Error('The store is unavailable.'));
    };
    const readPassages = store.readPassages.bind(store);
    const threads = new ModelThreads({ store: { ...store, findPassages, readPassages }, threads: 1 });
    const abort = new AbortController();
    await assert.rejects(searchRefunds(threads, fixture.organizationId, abort.signal));
    assert.equal(failures, 3);
    const found = await searchRefunds(threads);
    assert.deepEqual([found.passages.length, failures], [1, 6]);
  });

  it('serve organizations in turn', async () => {
    const model = new ModelThreads({ store: noStore, threads: 1, program });
    const ended: string[] = [];
    const ask = async (organization: string) => {
      await collectReply(model, 'fine', organization);
      ended.push(organization);
    };
    await Promise.all([...Array.from({ length: 100 }, () => ask('org_1')), ask('org_2')]);
    assert.ok(
      ended.indexOf('org_2') < 50,
      'a single reply does not wait for a hundred of another organization',
    );
  });

  describe('when a task misbehaves', () => {
    const misbehaving = (settings: Partial<ThreadSettings> = {}) =>
      new ModelThreads({ store: noStore, threads: 1, program, ...settings });

    for (const how of ['crash', 'loop']) {
      it(`fail only that reply, as transient, and write the next (${how})`, async () => {
        const model = misbehaving({ taskMsMax: how === 'loop' ? 5_000 : 60_000 });
        const failed = collectReply(model, how, 'org_1');
        const next = collectReply(model, 'fine', 'org_2');
        await assert.rejects(failed, (error) => error instanceof ModelError && error.transient);
        assert.deepEqual(await next, [{ type: 'text', text: 'fine' }]);
      });
    }

    it('run the other replies of its batch again', async () => {
      const model = misbehaving();
      const prompts = ['fine', 'crash', 'one', 'two'];
      const outcomes = await Promise.allSettled(prompts.map((prompt) => collectReply(model, prompt)));
      assert.deepEqual(
        outcomes.map((one) => (one.status === 'fulfilled' ? one.value : 'failed')),
        prompts.map((text) => (text === 'crash' ? 'failed' : [{ type: 'text', text }])),
      );
    });

    it('fail what waits when they are closed', async () => {
      const threads = new ModelThreads({ store: noStore, threads: 1, program });
      const failed = ['wait', 'one', 'two'].map((prompt) =>
        assert.rejects(collectReply(threads, prompt), { transient: true }),
      );
      await nextTurn();
      await threads.close();
      await Promise.all(failed);
    });

    it('reject tasks after they are closed', async () => {
      const threads = new ModelThreads({ store: noStore, threads: 1, program });
      await threads.close();
      await assert.rejects(collectReply(threads, 'fine'), { transient: true });
    });

    it('free the slot of an aborted task', async () => {
      const model = misbehaving();
      for (const how of ['wait', 'loop']) {
        const abort = new AbortController();
        const failed = assert.rejects(collectReply(model, how, 'org_1', abort.signal), {
          message: 'cancelled',
        });
        // The task has been sent to its thread.
        await nextTurn();
        abort.abort(new Error('cancelled'));
        await failed;
        assert.deepEqual(await collectReply(model, 'fine'), [{ type: 'text', text: 'fine' }]);
      }
    });

    it('free the slot of an aborted task that keeps querying a slow store', {
      timeout: 60_000,
    }, async () => {
      const answers = [Promise.withResolvers<[]>(), Promise.withResolvers<[]>()];
      const asked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let reads = 0;
      const outlineDocuments = () => {
        asked[reads]!.resolve();
        return answers[reads++]!.promise;
      };
      const model = misbehaving({ store: { ...noStore, outlineDocuments }, taskMsMax: 2 ** 31 - 1 });
      const abort = new AbortController();
      const failed = assert.rejects(collectReply(model, 'ask', 'org_1', abort.signal), {
        message: 'cancelled',
      });
      await asked[0]!.promise;
      abort.abort(new Error('cancelled'));
      await failed;
      answers[0]!.resolve([]);
      await asked[1]!.promise;
      assert.deepEqual(await collectReply(model, 'fine'), [{ type: 'text', text: 'fine' }]);
    });
  });
});
