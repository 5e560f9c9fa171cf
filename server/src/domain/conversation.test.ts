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

describe('What was said before a reply', () => {
  it('begins with the first prompt and ends with the one to be answered', () => {
    assert.deepEqual(before('?a', 'in_progress'), ['?a']);
    assert.deepEqual(before('?a', 'completed:A', '?b', 'in_progress'), ['?a', 'A', '?b']);
  });

  it('has neither replies that failed nor their neutral sentence', () => {
    assert.deepEqual(before('?a', 'failed:Sorry', '?b', 'in_progress'), ['?a', '?b']);
    assert.deepEqual(before('?a', 'failed:Sorry', 'completed:A', '?b', 'in_progress'), ['?a', 'A', '?b']);
  });

  it('has what a reply said before it was stopped, unless that is nothing', () => {
    assert.deepEqual(before('?a', 'cancelled:Half', '?b', 'in_progress'), ['?a', 'Half', '?b']);
    assert.deepEqual(before('?a', 'cancelled: \n', '?b', 'in_progress'), ['?a', '?b']);
  });

  it('has the last try only of those that said something', () => {
    const tries = ['?a', 'cancelled:Half', 'cancelled:More', 'failed:Sorry'];
    assert.deepEqual(before(...tries, '?b', 'in_progress'), ['?a', 'More', '?b']);
    assert.deepEqual(before(...tries, 'completed:Whole', '?b', 'in_progress'), ['?a', 'Whole', '?b']);
  });

  it('ends with the prompt also when a reply to it is tried again', () => {
    assert.deepEqual(before('?a', 'failed:Sorry', 'in_progress'), ['?a']);
    assert.deepEqual(before('?a', 'completed:A', '?b', 'cancelled:Half', 'in_progress'), ['?a', 'A', '?b']);
  });
});
