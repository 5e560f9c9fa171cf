import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Signals } from './signals.ts';

const one = 'thr_1';
const other = 'thr_2';

describe('Signals', () => {
  it('reach every follower of that subject, and no one else', () => {
    const signals = new Signals<string>();
    const calls: string[] = [];
    signals.follow(one, () => calls.push('first'));
    signals.follow(one, () => calls.push('second'));
    signals.follow(other, () => calls.push('other'));
    signals.changed(one);
    assert.deepEqual(calls, ['first', 'second']);
  });

  it('release followers that have stopped, even if they stop twice or follow again', () => {
    const signals = new Signals<string>();
    let calls = 0;
    const tell = () => {
      calls += 1;
    };
    const stop = signals.follow(one, tell);
    stop();
    const stopAgain = signals.follow(one, tell);
    stop();
    signals.changed(one);
    assert.equal(calls, 1);
    stopAgain();
    signals.changed(one);
    assert.equal(calls, 1);
    assert.deepEqual(signals.followed(), []);
  });

  it('call a listener once per subscription, and at most once more after it unsubscribes', () => {
    const signals = new Signals<string>();
    let calls = 0;
    const stops: (() => void)[] = [];
    const tell = () => {
      calls += 1;
      for (const stop of stops) stop();
    };
    stops.push(signals.follow(one, tell), signals.follow(one, tell));
    signals.changed(one);
    signals.changed(one);
    assert.equal(calls, 2);
  });
});
