import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MessageId, OrganizationId, ThreadId, UserId } from '../../domain/id.ts';
import type { AssistantMessage } from '../../domain/message.ts';
import type { Thread } from '../../domain/thread.ts';
import { type ReplyChange, type SeenThread, threadChange } from './follow-thread.ts';

const thread: Thread = {
  organizationId: 'org_1' as OrganizationId,
  id: 'thr_1' as ThreadId,
  userId: 'usr_1' as UserId,
  title: 'Title',
  accountId: null,
  secondaryId: null,
  createdAt: 1,
  updatedAt: null,
  published: false,
  deletedAt: null,
};
const running: AssistantMessage = {
  threadId: thread.id,
  createdAt: 1,
  id: 'msg_2' as MessageId,
  role: 'assistant',
  content: '',
  status: 'in_progress',
  completedAt: null,
  steps: [],
  sources: null,
  model: null,
};
const seen = (change: Partial<AssistantMessage> = {}, changed: Partial<Thread> = {}): SeenThread => ({
  thread: { ...thread, ...changed },
  messageCount: 2,
  latest: { ...running, ...change },
});
const createSteps = (...descriptions: string[]) =>
  descriptions.map((description, at) => ({ description, at }));

/** The state of a reader who has applied the change. */
function applied(before: AssistantMessage, { reply, stepsFrom, textFrom }: ReplyChange) {
  return {
    status: reply.status,
    content: before.content.slice(0, textFrom) + reply.content.slice(textFrom),
    steps: [...before.steps.slice(0, stepsFrom), ...reply.steps.slice(stepsFrom)],
  };
}

function progressBetween(before: Partial<AssistantMessage>, after: Partial<AssistantMessage>): ReplyChange {
  const change = threadChange(seen(before), seen(after));
  assert.ok(typeof change === 'object', String(change));
  const { status, content, steps } = { ...running, ...after };
  assert.deepEqual(applied({ ...running, ...before }, change), { status, content, steps });
  return change;
}

describe('The changes of a thread', () => {
  it('are none while nothing has changed', () => {
    const same = { content: 'Text', steps: createSteps('One') };
    assert.equal(threadChange(seen(same), seen({ ...same, steps: createSteps('One') })), 'nothing');
  });

  it('are the steps and the text that were added, and no more', () => {
    const change = progressBetween(
      { content: 'Half', steps: createSteps('One') },
      { content: 'Half and whole', steps: createSteps('One', 'Two') },
    );
    assert.deepEqual([change.stepsFrom, change.textFrom], [1, 4]);
  });

  it('contain the whole of a revised text, and all of a reply that was restarted', () => {
    assert.equal(progressBetween({ content: 'Thirty days.' }, { content: 'Thirty days [1].' }).textFrom, 0);
    const restarted = progressBetween(
      { content: 'Half', steps: createSteps('One') },
      { content: '', steps: [] },
    );
    assert.deepEqual([restarted.stepsFrom, restarted.textFrom], [0, 0]);
    const other = progressBetween(
      { steps: createSteps('One', 'Two') },
      { steps: createSteps('One', 'Three') },
    );
    assert.equal(other.stepsFrom, 0);
  });

  it('may be only a status', () => {
    progressBetween({ content: 'Text' }, { content: 'Text', status: 'corroborating' });
  });

  it('never start within a character', () => {
    assert.equal(progressBetween({ content: 'a\u{1F9F6}' }, { content: 'a\u{1F9F5}' }).textFrom, 0);
    assert.equal(progressBetween({ content: 'a\u{1F9F6}' }, { content: 'a\u{1F9F6}!' }).textFrom, 3);
  });

  it('are more than progress when a reply has ended, a message was added, or the thread has changed', () => {
    const before = seen({ content: 'Text' });
    for (const status of ['completed', 'failed', 'cancelled'] as const) {
      assert.equal(threadChange(before, seen({ content: 'Text', status, completedAt: 5 })), 'more');
    }
    assert.equal(threadChange(before, seen({ content: 'Text' }, { title: 'Other' })), 'more');
    assert.equal(threadChange(before, seen({ content: 'Text' }, { published: true })), 'more');
    assert.equal(threadChange(before, { ...before, messageCount: 4 }), 'more');
    const retried = seen({ id: 'msg_3' as MessageId });
    assert.equal(threadChange(seen({ status: 'failed' }), retried), 'more');
  });
});
