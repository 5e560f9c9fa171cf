import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { conversationBefore } from './conversation.ts';
import type { MessageId, ThreadId } from './id.ts';
import type { Message, MessageStatus } from './message.ts';

const threadId = 'thr_0' as ThreadId;

/** `?text` is a prompt and `completed:text` a reply. The last one is the reply to write. */
function before(...texts: string[]): string[] {
  const messages = texts.map((text, at): Message => {
    const id = `msg_${at}` as MessageId;
    if (text.startsWith('?')) return { id, threadId, role: 'user', content: text.slice(1), createdAt: at };
    const [status, content = ''] = text.split(':') as [MessageStatus, string?];
    const shown = { steps: [], sources: null, model: null, completedAt: null };
    return { id, threadId, role: 'assistant', content, createdAt: at, status, ...shown };
  });
  const said = conversationBefore(messages, `msg_${texts.length - 1}` as MessageId);
  return said.map(({ role, content }) => (role === 'user' ? `?${content}` : content));
}

describe('The conversation before a reply', () => {
  it('starts with the first prompt and ends with the one to answer', () => {
    assert.deepEqual(before('?a', 'in_progress'), ['?a']);
    assert.deepEqual(before('?a', 'completed:A', '?b', 'in_progress'), ['?a', 'A', '?b']);
  });

  it('leaves out failed replies and their neutral sentence', () => {
    assert.deepEqual(before('?a', 'failed:Sorry', '?b', 'in_progress'), ['?a', '?b']);
    assert.deepEqual(before('?a', 'failed:Sorry', 'completed:A', '?b', 'in_progress'), ['?a', 'A', '?b']);
  });

  it('includes the text of a stopped reply, unless it is empty', () => {
    assert.deepEqual(before('?a', 'cancelled:Half', '?b', 'in_progress'), ['?a', 'Half', '?b']);
    assert.deepEqual(before('?a', 'cancelled: \n', '?b', 'in_progress'), ['?a', '?b']);
  });

  it('includes only the last reply with text to each prompt', () => {
    const tries = ['?a', 'cancelled:Half', 'cancelled:More', 'failed:Sorry'];
    assert.deepEqual(before(...tries, '?b', 'in_progress'), ['?a', 'More', '?b']);
    assert.deepEqual(before(...tries, 'completed:Whole', '?b', 'in_progress'), ['?a', 'Whole', '?b']);
  });

  it('ends with the prompt when its reply is retried', () => {
    assert.deepEqual(before('?a', 'failed:Sorry', 'in_progress'), ['?a']);
    assert.deepEqual(before('?a', 'completed:A', '?b', 'cancelled:Half', 'in_progress'), ['?a', 'A', '?b']);
  });
});
