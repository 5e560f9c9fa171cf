import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MessageId, ThreadId } from './id.ts';
import {
  type AssistantMessage,
  deriveThreadStatus,
  type MessageStatus,
  type UserMessage,
} from './message.ts';

const asked: UserMessage = {
  id: 'msg_0' as MessageId,
  threadId: 'thr_0' as ThreadId,
  role: 'user',
  content: '?',
  createdAt: 0,
};
const reply = (status: MessageStatus, ...steps: string[]): AssistantMessage => ({
  ...asked,
  id: `msg_${status}` as MessageId,
  role: 'assistant',
  status,
  completedAt: null,
  steps: steps.map((description) => ({ description })),
  sources: null,
  model: null,
});
const nothingActive = { activeMessageId: null, latestUpdate: null, stepCount: 0 };

describe('The status of a thread', () => {
  it('is idle without an assistant message', () => {
    assert.deepEqual(deriveThreadStatus([]), { state: 'idle', ...nothingActive });
    assert.deepEqual(deriveThreadStatus([asked]), { state: 'idle', ...nothingActive });
  });

  it('follows the latest assistant message', () => {
    assert.equal(deriveThreadStatus([asked, reply('failed'), asked, reply('completed')]).state, 'idle');
    assert.equal(deriveThreadStatus([asked, reply('completed'), asked, reply('failed')]).state, 'error');
    assert.equal(deriveThreadStatus([asked, reply('failed'), asked]).state, 'error');
  });

  it('is Thinking before the first step, and then shows the latest step', () => {
    const first = reply('in_progress');
    assert.deepEqual(deriveThreadStatus([asked, first]), {
      state: 'in_progress',
      activeMessageId: first.id,
      latestUpdate: 'Thinking',
      stepCount: 0,
    });
    const second = reply('corroborating', 'Searching', 'Reading');
    assert.deepEqual(deriveThreadStatus([asked, second]), {
      state: 'in_progress',
      activeMessageId: second.id,
      latestUpdate: 'Reading',
      stepCount: 2,
    });
  });

  it('shows no progress when nothing is in progress', () => {
    for (const [status, state] of [
      ['completed', 'idle'],
      ['cancelled', 'idle'],
      ['failed', 'error'],
    ] as const) {
      assert.deepEqual(deriveThreadStatus([asked, reply(status, 'Searching')]), { state, ...nothingActive });
    }
  });
});
