import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createLibrary, type LibraryFixture } from '../../testing/library-fixture.ts';
import { extractiveModel } from '../models/extractive.ts';
import { answeredQuestions } from './example-questions.ts';

const running = new AbortController().signal;

describe('Example questions', () => {
  let fixture: LibraryFixture;
  before(async () => {
    fixture = createLibrary([
      { title: 'Shipping', passages: ['Parcels to Norway cost 12 euros.'] },
      { title: 'Refunds', passages: ['Unused goods are refunded within 30 days.'] },
    ]);
  });

  it('are created for every document, and the model answers each of them from it', async () => {
    const model = extractiveModel(fixture.store);
    const suggest = answeredQuestions(model);
    const suggested = fixture.documents.map((document) => {
      const headings = document.passages.map(({ heading }) => heading).filter(Boolean);
      return suggest({ ...document, id: document.documentId, headings }, running);
    });
    const byDocument = await Promise.all(suggested);
    assert.ok(byDocument.every(({ length }) => length > 0));
    const questions = byDocument.flat();
    assert.ok(questions.length > 0);
    for (const content of questions) {
      const conversation = [{ role: 'user', content } as const];
      const { organizationId } = fixture;
      const request = { organizationId, accountId: null, conversation, attempt: 1, signal: running };
      const types: string[] = [];
      for await (const { type } of model.reply(request)) types.push(type);
      assert.ok(types.includes('corroborating'), content);
    }
  });

  it('leave out questions that the model does not answer', async () => {
    const suggest = answeredQuestions({
      name: 'silent',
      async *reply() {
        yield { type: 'text', text: 'I did not find a direct answer.' };
        yield { type: 'sources', sources: [{ id: 'doc_1', title: '', url: null, snippet: '' }] };
      },
    });
    const document = { organizationId: fixture.organizationId, accountId: null, id: 'doc_1' };
    assert.deepEqual(await suggest({ ...document, title: 'T', headings: ['Prices'] }, running), []);
  });

  it('are plain questions', async () => {
    const asked: string[] = [];
    const suggest = answeredQuestions({
      name: 'answers all',
      async *reply({ conversation }) {
        asked.push(conversation[0]!.content);
        yield { type: 'corroborating' };
      },
    });
    const document = { organizationId: fixture.organizationId, accountId: null, id: 'doc_1' };
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
  });
});
