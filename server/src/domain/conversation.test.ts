import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { conversationBefore, historyLengthMax } from './conversation.ts';
import type { MessageId, ThreadId } from './id.ts';
import type { Message, MessageStatus } from './message.ts';

const threadId = 'thr_0' as ThreadId;

/** `?text` is a prompt, `!text` an edited version of the prompt before it, and `completed:text` a reply. The last one is the reply to write. */
function before(...texts: string[]): string[] {
  const messages = texts.map((text, at): Message => {
    const id = `msg_${at}` as MessageId;
    const prompt = { id, threadId, role: 'user', content: text.slice(1), createdAt: at } as const;
    if (text.startsWith('?')) return prompt;
    if (text.startsWith('!')) return { ...prompt, replaces: 'msg_edited' as MessageId };
    const [status, content = ''] = text.split(':') as [MessageStatus, string?];
    const shown = { steps: [], sources: null, model: null, completedAt: null };
    return { id, threadId, role: 'assistant', content, createdAt: at, status, ...shown };
  });
  const turns = conversationBefore(messages, `msg_${texts.length - 1}` as MessageId);
  return turns.map(({ role, content }) => (role === 'user' ? `?${content}` : content));
}

describe('The conversation before a reply', () => {
  it('starts with the first prompt and ends with the one to answer', () => {
    assert.deepEqual(before('?a', 'in_progress'), ['?a']);
    assert.deepEqual(before('?a', 'completed:A', '?b', 'in_progress'), ['?a', 'A', '?b']);
  });

  it('keeps the prompt and the latest messages before it that fit', () => {
    const [long, half] = ['x'.repeat(100_000), 'y'.repeat(historyLengthMax / 2)];
    assert.deepEqual(before(`?${long}`, 'in_progress'), [`?${long}`]);
    assert.deepEqual(before(`?${long}`, 'completed:A', `?${long}`, 'in_progress'), ['A', `?${long}`]);
    const texts = [`?${half}`, 'completed:A', `?${half}`, 'completed:B', '?c', 'in_progress'];
    assert.deepEqual(before(...texts), ['A', `?${half}`, 'B', '?c']);
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

  it('ends with the prompt when its completed reply is generated again, without the earlier version', () => {
    assert.deepEqual(before('?a', 'completed:A', 'in_progress'), ['?a']);
    assert.deepEqual(before('?a', 'completed:A', 'completed:B', '?b', 'in_progress'), ['?a', 'B', '?b']);
  });

  it('leaves out a prompt that was edited, and its replies', () => {
    assert.deepEqual(before('?a', 'completed:A', '!b', 'in_progress'), ['?b']);
    assert.deepEqual(before('?a', 'completed:A', '!b', 'failed:Sorry', '!c', 'in_progress'), ['?c']);
    const later = ['?a', 'completed:A', '?b', 'completed:B', '!c', 'completed:C', '?d', 'in_progress'];
    assert.deepEqual(before(...later), ['?a', 'A', '?c', 'C', '?d']);
  });
});
