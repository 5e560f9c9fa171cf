import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';

// Not as a literal, because tests are compiled without the types of the browser.
const path = './thread-stream.ts';
const { openThreadStream } = await import(path);

/** The streams that the page has opened, with the clock and the events of the page. */
function openPage(test: TestContext) {
  let nowMs = 0;
  const streams: FakeEventSource[] = [];
  class FakeEventSource extends EventTarget {
    static readonly CLOSED = 2;
    readyState = 0;
    constructor() {
      super();
      streams.push(this);
    }
    close(): void {
      this.readyState = FakeEventSource.CLOSED;
    }
  }
  const page = {
    EventSource: FakeEventSource,
    document: Object.assign(new EventTarget(), { hidden: false }),
  };
  Object.assign(globalThis, page, { addEventListener: () => {}, removeEventListener: () => {} });
  test.mock.timers.enable({ apis: ['setTimeout'] });
  test.mock.method(performance, 'now', () => nowMs);
  test.mock.method(Math, 'random', () => 0.5);
  const pass = (ms: number) => {
    nowMs += ms;
    test.mock.timers.tick(ms);
  };
  /** The latest stream sends its first event, stays open for a while and breaks. */
  const breakAfter = (ms: number) => {
    const stream = streams.at(-1)!;
    stream.dispatchEvent(new MessageEvent('view', { data: '{}' }));
    pass(ms);
    stream.dispatchEvent(new Event('error'));
  };
  return { streams, pass, breakAfter };
}

describe('The stream of a thread', () => {
  const nothing = () => {};
  const isGone = async () => false;
  const options = { url: '/events', onView: nothing, onProgress: nothing, onLive: nothing, isGone };

  it('is opened less and less often if each stream breaks after its first event', (test) => {
    const { streams, pass, breakAfter } = openPage(test);
    const stream = openThreadStream(options);
    for (const delayMs of [300, 1_000, 2_000, 4_000, 8_000, 8_000]) {
      const opened = streams.length;
      breakAfter(100);
      pass(delayMs - 1);
      assert.equal(streams.length, opened, `not before ${delayMs} ms`);
      pass(1);
      assert.equal(streams.length, opened + 1, `after ${delayMs} ms`);
    }
    breakAfter(20_000);
    pass(300);
    assert.equal(streams.length, 8, 'at once again, after one that lasted');
    stream.close();
  });

  it('is opened again if it is silent for longer than its heartbeats take', (test) => {
    const { streams, pass } = openPage(test);
    const live: boolean[] = [];
    const stream = openThreadStream({ ...options, onLive: (isLive: boolean) => live.push(isLive) });
    pass(100_000);
    assert.equal(streams.length, 1, 'a long thread may take long to arrive');
    streams[0]!.dispatchEvent(new MessageEvent('view', { data: '{}' }));
    for (const event of ['beat', 'progress', 'beat']) {
      pass(59_000);
      streams[0]!.dispatchEvent(new MessageEvent(event, { data: '{}' }));
    }
    assert.equal(live.at(-1), true);
    pass(60_000);
    assert.equal(live.at(-1), false);
    pass(300);
    assert.equal(streams.length, 2);
    stream.close();
    pass(100_000);
    assert.equal(streams.length, 2);
  });
});
