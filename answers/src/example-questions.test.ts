import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { DocumentId } from '../../server/src/domain/id.ts';
import { openSqliteStore } from '../../server/src/storage/sqlite/open.ts';
import { createExampleQuestions } from '../../server/src/usecases/documents/example-questions.ts';
import { type LibraryFixture, openLibrary } from '../testing/library-fixture.ts';
import { answeredQuestions } from './example-questions.ts';
import { extractiveModel } from './models/extractive.ts';

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
    const model = extractiveModel(fixture.store);
    const examples = createExampleQuestions({ store: fixture.store });
    await examples.make(answeredQuestions(model), running);
    const questions = await examples.list(fixture.organizationId, null);
    assert.ok(questions.length > 0);
    for (const content of questions) {
      const conversation = [{ role: 'user', content } as const];
      const { organizationId } = fixture;
      const request = { organizationId, accountId: null, conversation, attempt: 1, signal: running };
      const types: string[] = [];
      for await (const { type } of model.reply(request)) types.push(type);
      assert.ok(types.includes('corroborating'), content);
    }
    assert.equal(await fixture.store.claimDocumentForQuestions(), undefined);
  });

  it('leave out questions that the model does not answer', async () => {
    const suggest = answeredQuestions({
      name: 'silent',
      async *reply() {
        yield { type: 'text', text: 'I did not find a direct answer.' };
        yield { type: 'sources', sources: [{ id: 'doc_1', title: '', url: null, snippet: '' }] };
      },
    });
    const document = { organizationId: fixture.organizationId, accountId: null, id: 'doc_1' as DocumentId };
    assert.deepEqual(await suggest({ ...document, title: 'T', headings: ['Prices'] }, running), []);
  });

  it('are plain questions, and their document is released when the service stops', async () => {
    const asked: string[] = [];
    const suggest = answeredQuestions({
      name: 'answers all',
      async *reply({ conversation }) {
        asked.push(conversation[0]!.content);
        yield { type: 'corroborating' };
      },
    });
    const document = { organizationId: fixture.organizationId, accountId: null, id: 'doc_1' as DocumentId };
    const headings = [
      'SYNOPSIS',
      'Changes › 2.0.1',
      '[1.2.3] - 2020-01-31',
      'v4.0 (2020)',
      'How to return yarn',
      '1.2 Requirements',
      'SYNOPSIS › Traditional usage',
      'When the money arrives',
      'Opening hours',
      'Request a Feature',
      'Can I knit?',
      'x'.repeat(99),
    ];
    await suggest({ ...document, title: 'T', headings }, running);
    assert.deepEqual(asked, [
      'Can I knit?',
      'How do I return yarn?',
      'Tell me about “1.2 Requirements”',
      'Tell me about “When the money arrives”',
      'Tell me about “Opening hours”',
      'Tell me about “Request a Feature”',
    ]);

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
