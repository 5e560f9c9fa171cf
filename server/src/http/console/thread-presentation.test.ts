import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeSupport } from '../../../../answers/src/index.ts';
import type { MessageId, ThreadId } from '../../domain/id.ts';
import type { AssistantMessage, Verdict } from '../../domain/message.ts';
import type { Thread } from '../../domain/thread.ts';
import { createThreadPresentation } from './thread-presentation.ts';

const { presentView } = createThreadPresentation(describeSupport);

const source = { id: 'doc_1', title: 'Refunds', url: null, snippet: '' };
const reply: AssistantMessage = {
  id: 'msg_1' as MessageId,
  threadId: 'thr_1' as ThreadId,
  role: 'assistant',
  content: 'Thirty days [1].',
  createdAt: 0,
  status: 'completed',
  completedAt: 1,
  steps: [],
  sources: [source, source],
  model: 'openai-compatible/m',
};

async function shown(change: Partial<AssistantMessage>, verdict: Verdict | null, mine = false) {
  const details = { traceId: 'trace', failure: 'The provider answered 401.', verdict };
  const pieces = presentView({
    view: {
      thread: { createdAt: 0, updatedAt: null } as Thread,
      version: 1,
      status: { state: 'idle', activeMessageId: null, latestUpdate: null, stepCount: 0 },
      mine,
      createdBy: null,
    },
    parts: [[{ ...reply, ...change, details }]],
  });
  let json = '';
  for await (const piece of pieces) json += piece;
  const { messages } = JSON.parse(json);
  return messages[0];
}

const verdictOf = async (...asked: Parameters<typeof shown>) => (await shown(...asked)).verdict;

describe('A reply in the console', () => {
  it('shows its trace ID, and why it failed, to the creator of the thread only', async () => {
    for (const [mine, status, expected] of [
      [true, 'failed', ['trace', 'The provider answered 401.']],
      [true, 'completed', ['trace', null]],
      [false, 'failed', [null, null]],
    ] as const) {
      const { traceId, failure } = await shown({ status }, null, mine);
      assert.deepEqual([traceId, failure], expected);
    }
  });
});

describe('The verdict on a reply in the console', () => {
  it('says how many statements were found, and where they are', async () => {
    const verdict = { statements: 2, found: 1, checked: [{ start: 0, end: 16, sources: [1] }] };
    assert.deepEqual(await verdictOf({}, verdict), {
      summary: '1 of 2 statements found in 2 sources',
      ...verdict,
    });
  });

  it('says that the extractive model quotes its sources, and marks nothing', async () => {
    const expected = { summary: 'Quoted from 2 sources', statements: 0, found: 0, checked: [] };
    assert.deepEqual(await verdictOf({ model: 'extractive' }, null), expected);
    assert.equal(await verdictOf({ model: 'extractive', sources: null }, null), null);
  });

  it('is null for quotes that are only the closest passages', async () => {
    const content =
      'I did not find a direct answer. The closest passages are:\n\n**Wool is washed cold.** [1]';
    assert.equal(await verdictOf({ model: 'extractive', content }, null), null);
  });

  it('is null for a reply that was not checked', async () => {
    assert.equal(await verdictOf({}, null), null);
    assert.equal(await verdictOf({ sources: null }, null), null);
  });
});
