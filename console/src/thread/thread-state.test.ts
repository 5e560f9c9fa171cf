import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json, ThreadEvents } from '../api/contract.ts';
import {
  describeOrigin,
  isRunning,
  latestReply,
  nothingKnown,
  reduceThread,
  type ThreadState,
} from './thread-state.ts';

const prompt = {
  id: 'msg_1',
  role: 'user',
  content: 'How long?',
  createdAt: '2026-11-15T08:00:00.000Z',
} as const;

function replyWith(changed: Partial<Json<'reply'>> = {}): Json<'reply'> {
  return {
    id: 'msg_2',
    role: 'assistant',
    content: '',
    createdAt: '2026-11-15T08:00:00.000Z',
    status: 'in_progress',
    completedAt: null,
    steps: [],
    sources: null,
    model: 'scripted',
    traceId: 'trace',
    failure: null,
    verdict: null,
    ...changed,
  };
}

function viewWith(reply: Json<'reply'>, more: Json<'threadView'>['messages'] = []): ThreadEvents['view'] {
  return {
    thread: {
      id: 'thr_1',
      title: 'How long?',
      createdAt: '2026-11-15T08:00:00.000Z',
      updatedAt: null,
      accountId: null,
      published: false,
      mine: true,
      createdBy: 'ada@skein.example',
    },
    messages: [prompt, reply, ...more],
    state: isRunning(reply) ? 'in_progress' : 'idle',
    now: '2026-11-15T08:00:02.000Z',
  };
}

function knowing(reply: Json<'reply'>): ThreadState {
  return reduceThread(nothingKnown, { type: 'view', view: viewWith(reply), pageMs: 500 });
}

function progressOf(changed: Partial<ThreadEvents['progress']>): ThreadEvents['progress'] {
  return {
    messageId: 'msg_2',
    status: 'in_progress',
    stepsFrom: 0,
    steps: [],
    textFrom: 0,
    text: '',
    ...changed,
  };
}

function after(state: ThreadState, progress: ThreadEvents['progress']): ThreadState {
  return reduceThread(state, { type: 'progress', progress });
}

describe('the state of a thread', () => {
  test('a view shows how far the service is ahead of the page, independent of the clock of the machine', () => {
    const { clockAheadMs } = knowing(replyWith());
    assert.equal(clockAheadMs, Date.parse('2026-11-15T08:00:02.000Z') - 500);
  });

  test('progress appends text and steps', () => {
    const state = knowing(
      replyWith({ content: 'Thirty', steps: [{ description: 'Reading', elapsedMs: 10 }] }),
    );
    const step = { description: 'Writing', elapsedMs: 40 };
    const next = after(state, progressOf({ stepsFrom: 1, steps: [step], textFrom: 6, text: ' days' }));
    const reply = latestReply(next.view)!;
    assert.equal(reply.content, 'Thirty days');
    assert.deepEqual(
      reply.steps.map(({ description }) => description),
      ['Reading', 'Writing'],
    );
    assert.equal(next.unappliedProgress, 0);
  });

  test('progress replaces text that the service has corrected', () => {
    const state = knowing(replyWith({ content: 'Thirty days [7].' }));
    const next = after(state, progressOf({ status: 'corroborating', textFrom: 12, text: '[1].' }));
    assert.equal(latestReply(next.view)!.content, 'Thirty days [1].');
    assert.equal(latestReply(next.view)!.status, 'corroborating');
  });

  test('text that was split within a surrogate pair is joined again', () => {
    const state = knowing(replyWith({ content: 'a\ud83d' }));
    const next = after(state, progressOf({ textFrom: 2, text: '\ude00' }));
    assert.equal(latestReply(next.view)!.content, 'a😀');
  });

  test('the state of the thread follows from its latest reply', () => {
    const state = knowing(replyWith());
    assert.equal(state.view?.state, 'in_progress');
    assert.equal(after(state, progressOf({ status: 'completed' })).view?.state, 'idle');
    assert.equal(after(state, progressOf({ status: 'cancelled' })).view?.state, 'idle');
    assert.equal(after(state, progressOf({ status: 'failed' })).view?.state, 'error');
  });

  for (const [what, progress] of [
    ['text after missing text', progressOf({ textFrom: 7, text: '.' })],
    ['steps after missing steps', progressOf({ stepsFrom: 1 })],
    ['an unknown message', progressOf({ messageId: 'msg_9' })],
    ['a message that is not a reply', progressOf({ messageId: 'msg_1' })],
  ] as const) {
    test(`progress of ${what} changes nothing and asks for a fresh stream`, () => {
      const state = knowing(replyWith({ content: 'Thirty' }));
      const next = after(state, progress);
      assert.equal(next.unappliedProgress, 1);
      assert.equal(next.view, state.view);
    });
  }

  test('progress before the first view asks for a fresh stream', () => {
    assert.equal(after(nothingKnown, progressOf({})).unappliedProgress, 1);
  });

  test('messages that did not change stay the same objects when a view repeats them', () => {
    const state = knowing(replyWith());
    const ended = viewWith(replyWith({ status: 'completed', content: 'Thirty days.' }));
    const next = reduceThread(state, { type: 'view', view: structuredClone(ended), pageMs: 900 });
    assert.equal(next.view?.messages[0], state.view?.messages[0]);
    assert.equal(latestReply(next.view)?.content, 'Thirty days.');
  });
});

describe('the response to a request', () => {
  const followUp = { ...prompt, id: 'msg_3', content: 'And then?' };
  const running = replyWith({ id: 'msg_4' });

  test('adds messages that the stream has not sent', () => {
    const state = knowing(replyWith({ status: 'completed' }));
    const answer = viewWith(replyWith({ status: 'completed' }), [followUp, running]);
    const next = reduceThread(state, { type: 'response', view: answer, isLive: true });
    assert.deepEqual(
      next.view?.messages.map(({ id }) => id),
      ['msg_1', 'msg_2', 'msg_3', 'msg_4'],
    );
    assert.equal(next.view?.state, 'in_progress');
  });

  test('does not revert what the stream has sent since', () => {
    const ended = replyWith({ status: 'completed', content: 'Thirty days.' });
    const state = knowing(ended);
    const next = reduceThread(state, { type: 'response', view: viewWith(replyWith()), isLive: true });
    assert.equal(next.view, state.view);
    assert.equal(latestReply(next.view)?.status, 'completed');
  });

  test('to a rename changes the thread but not its messages', () => {
    const state = knowing(replyWith());
    const { createdBy: _, ...thread } = { ...viewWith(replyWith()).thread, title: 'Refunds' };
    const next = reduceThread(state, { type: 'thread', thread });
    assert.equal(next.view?.thread.title, 'Refunds');
    assert.equal(next.view?.thread.createdBy, 'ada@skein.example');
    assert.equal(next.view?.messages, state.view?.messages);
  });

  test('is used while the stream is disconnected', () => {
    const state = knowing(replyWith());
    const stopped = viewWith(replyWith({ status: 'cancelled' }));
    const next = reduceThread(state, { type: 'response', view: stopped, isLive: false });
    assert.equal(latestReply(next.view)?.status, 'cancelled');
  });
});

test('a reply says that it quotes documents only if it does, and only once', () => {
  const source = { id: 'doc_1', title: 'Returns', url: null, snippet: 'Within 30 days.' };
  const verdict = { summary: 'Quoted from 1 source', statements: 1, found: 1, checked: [] };
  const origin = (model: string, sources: Json<'reply'>['sources'], known: Json<'reply'>['verdict'] = null) =>
    describeOrigin({ model, sources, verdict: known });
  assert.equal(origin('extractive', [source]), 'Quoted from documents');
  assert.equal(origin('extractive', [source], verdict), null);
  assert.equal(origin('extractive', null), null);
  assert.equal(origin('extractive', []), null);
  assert.equal(origin('anthropic/x', null), 'anthropic/x');
});
