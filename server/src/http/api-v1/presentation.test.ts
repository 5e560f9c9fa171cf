import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MessageId, ThreadId } from '../../domain/id.ts';
import type { AssistantMessage } from '../../domain/message.ts';
import { presentMessage } from './presentation.ts';

describe('A message in the public API', () => {
  it('shows only the description of a step', () => {
    const message: AssistantMessage = {
      id: 'msg_1' as MessageId,
      threadId: 'thr_1' as ThreadId,
      role: 'assistant',
      content: '',
      createdAt: 0,
      status: 'in_progress',
      completedAt: null,
      steps: [{ description: 'Reading', at: 5 }, { description: 'Choosing' }],
      sources: null,
      model: null,
    };
    assert.deepEqual(presentMessage(message).steps, [
      { description: 'Reading' },
      { description: 'Choosing' },
    ]);
  });
});
