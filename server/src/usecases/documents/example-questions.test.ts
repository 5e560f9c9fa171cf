import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createModel } from '../../../../answers/src/index.ts';
import { type LibraryFixture, openLibrary } from '../../../testing/library-fixture.ts';
import type { DocumentId } from '../../domain/id.ts';
import { defaultLimits } from '../../domain/limits.ts';
import { openSqliteStore } from '../../storage/sqlite/open.ts';
import { createExampleQuestions } from './example-questions.ts';

const running = new AbortController().signal;

describe('Example questions', () => {
  let fixture: LibraryFixture;
  before(async () => {
    fixture = await openLibrary(openSqliteStore, [
      { title: 'Shipping', passages: ['Parcels to Norway cost 12 euros.'] },
      { title: 'Refunds', passages: ['Unused goods are refunded within 30 days.'] },
    ]);
  });
  after(() => fixture.close());

  it('are created for every document, and the model answers each of them from it', async () => {
    const { store, organizationId } = fixture;
    const model = { kind: 'extractive', name: 'extractive' } as const;
    const settings = { model, limits: defaultLimits, threads: 1, passages: undefined };
    const extractive = await createModel(settings, store, () => ({}));
    const examples = createExampleQuestions({ store });
    await examples.make(extractive.suggestQuestions!, running);
    const questions = await examples.list(organizationId, null);
    assert.ok(questions.length > 0);
    for (const content of questions) {
      const conversation = [{ role: 'user', content } as const];
      const request = { organizationId, accountId: null, conversation, attempt: 1, signal: running };
      const types: string[] = [];
      for await (const { type } of extractive.reply(request)) types.push(type);
      assert.ok(types.includes('corroborating'), content);
    }
    assert.equal(await store.claimDocumentForQuestions(), undefined);
    await extractive.close?.();
  });

  it('leave their document unclaimed when the service stops', async () => {
    const { organizationId } = fixture;
    const document = { organizationId, accountId: null, id: 'doc_1' as DocumentId };
    const stopping = new AbortController();
    const given: unknown[] = [];
    const unread = { name: 'T.md', url: null, passageCount: 0, bytes: 0 };
    const claimed = { ...document, ...unread, title: 'T', addedAt: 1 };
    const store = {
      claimDocumentForQuestions: async () => claimed,
      listPassages: async () => [],
      setDocumentQuestions: async (...args: unknown[]) => void given.push(args),
      listDocumentQuestions: async () => [],
    };
    await createExampleQuestions({ store }).make(() => Promise.reject(stopping.abort()), stopping.signal);
    assert.deepEqual(given, [[fixture.organizationId, claimed, null]]);
  });
});
