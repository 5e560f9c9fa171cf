import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Thread, ThreadMessage, ThreadWithMessages } from '../../../../client/src/index.ts';
import { replyText, threadText } from './presentation.ts';

const thread: Thread = {
  id: 'thr_1',
  title: 'Refunds',
  createdAt: '2026-11-15T09:30:00.000Z',
  updatedAt: null,
  accountId: 'acct_42',
  secondaryId: null,
  published: true,
  deleted: false,
  threadUrl: 'https://skein.example/threads/thr_1',
};
const reply: ThreadMessage = {
  id: 'msg_2',
  threadId: thread.id,
  role: 'assistant',
  content: 'Thirty days [1].\n\nNot for yarn that was wound [2].',
  status: 'completed',
  createdAt: thread.createdAt,
  completedAt: thread.createdAt,
  steps: [],
  sources: [
    { id: 'doc_1', title: 'Refunds', url: 'https://docs.example/refunds', snippet: 'Thirty days.' },
    { id: 'doc_2', title: 'Yarn', url: null, snippet: 'Wound yarn stays.' },
  ],
  attachments: null,
  model: 'extractive',
};

describe('A reply on a terminal', () => {
  it('shows its text, its numbered sources, and the id and URL of the thread', () => {
    assert.equal(
      replyText(reply, thread),
      [
        'Thirty days [1].',
        '',
        'Not for yarn that was wound [2].',
        '',
        '[1] Refunds  https://docs.example/refunds',
        '[2] Yarn',
        '',
        'thr_1  https://skein.example/threads/thr_1',
      ].join('\n'),
    );
  });

  it('never moves the cursor or breaks a line, whatever the text contains', () => {
    const hostile = '\u001b]0;owned\u0007\u001b[2J\r\u0085x';
    const source = { id: 'doc_1', title: `a\n[9] forged${hostile}`, url: null, snippet: '' };
    const text = replyText(
      { ...reply, content: `One\r\n\tTwo${hostile}`, sources: [source] },
      { ...thread, threadUrl: `x${hostile}` },
    );
    assert.doesNotMatch(text, /[^\P{Cc}\n\t]/u);
    assert.deepEqual(text.split('\n').slice(0, 2), [
      'One',
      '\tTwo\uFFFD]0;owned\uFFFD\uFFFD[2J\uFFFD\uFFFDx',
    ]);
    assert.ok(!text.includes('\n[9] forged'));
  });
});

describe('A thread on a terminal', () => {
  it('has a header, and each message with its author and status', () => {
    const question = { ...reply, role: 'user', status: null, content: 'How long?', sources: null } as const;
    const status = { state: 'error', activeMessageId: null, latestUpdate: null, stepCount: 0 } as const;
    const failed: ThreadMessage = { ...reply, status: 'failed', content: 'It could not.', sources: null };
    const whole: ThreadWithMessages = { thread, messages: [question, reply, question, failed], status };
    const text = threadText(whole);
    assert.ok(
      text.startsWith(
        'Refunds\nthr_1 · error · created 2026-11-15T09:30:00.000Z · account acct_42 · published\n\nuser:\nHow long?\n\nassistant:\nThirty days [1].',
      ),
      text,
    );
    assert.ok(text.endsWith('[2] Yarn\n\nuser:\nHow long?\n\nassistant, failed:\nIt could not.'), text);
  });
});
