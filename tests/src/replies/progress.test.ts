import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Api } from '../../harness/http/api.ts';
import { Observations } from '../../harness/replies/observations.ts';
import { createThread, startWorld, type World } from '../../harness/world/world.ts';

const script = [
  '#step Reading the contract',
  '#say Thirty days, ',
  '#wait 500',
  '#step Comparing dates',
  '#say from the day ',
  '#wait 500',
  '#say of delivery.',
  '#corroborate',
  '#wait 500',
  '#step 1 of 1 found',
  '#source Refund policy',
  '#wait 500',
];
const whole = 'Thirty days, from the day of delivery.';
const steps = ['Reading the contract', 'Comparing dates', '1 of 1 found'];

describe('Polling a reply', { concurrency: true }, () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.end());

  /** Polls a reply without pauses until it has ended. Returns every response. */
  const pollAll = async (api: Api, id: string): Promise<any[]> => {
    const seen = new Observations();
    const responses: any[] = [];
    while (!seen.ended.has(id)) {
      const { body } = await api.get(id);
      seen.see(body, whole);
      responses.push(body);
    }
    return responses;
  };

  it('shows steps and text that only grow, then corroboration, then status, text and sources at once', async () => {
    const { thread } = await createThread(world.ada, { prompt: script.join('\n') });
    const responses = await pollAll(world.ada, thread.id);
    const replies = responses.map(({ messages }) => messages[1]);
    assertMost(
      ['in_progress', 'corroborating', 'completed'],
      replies.map(({ status }) => status),
    );
    assertMost(
      ['', 'Thirty days, ', 'Thirty days, from the day ', whole],
      replies.map(({ content }) => content),
    );
    assertMost(
      ['Thinking', ...steps, null],
      responses.map(({ status }) => status.latestUpdate),
    );
    assertNeverGoesBack(replies);
    const { sources, ...last } = replies.at(-1);
    assert.equal(sources[0].title, 'Refund policy');
    assert.deepEqual(
      last.steps,
      steps.map((description) => ({ description })),
    );
  });

  it('shows the same progress for many concurrent replies', async () => {
    const threads = await Promise.all(
      Array.from({ length: 12 }, () => createThread(world.eve, { prompt: script.join('\n') })),
    );
    const polled = await Promise.all(threads.map(({ thread }) => pollAll(world.eve, thread.id)));
    for (const responses of polled) {
      const replies = responses.map(({ messages }) => messages[1]);
      assertNeverGoesBack(replies);
      assert.ok(replies.some(({ content, status }) => status === 'in_progress' && content !== ''));
      assert.equal(replies.at(-1).content, whole);
    }
  });
});

/** Asserts that only expected values were seen, in order, and most of them: a busy poller may miss some. */
function assertMost(expected: readonly unknown[], seen: readonly unknown[]): void {
  const distinct = [...new Set(seen)];
  assert.deepEqual(
    distinct,
    expected.filter((value) => distinct.includes(value)),
  );
  assert.ok(distinct.length > expected.length / 2, JSON.stringify(distinct));
}

/** Asserts that nothing in one response is missing from the next. */
function assertNeverGoesBack(replies: readonly any[]): void {
  const order = ['in_progress', 'corroborating', 'completed'];
  for (const [place, later] of replies.entries()) {
    const earlier = replies[place - 1] ?? later;
    assert.ok(order.indexOf(later.status) >= order.indexOf(earlier.status), 'the status goes forward');
    assert.ok(later.content.startsWith(earlier.content), 'the text only grows');
    assert.deepEqual(later.steps.slice(0, earlier.steps.length), earlier.steps, 'steps are only added');
  }
}
