import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ThreadId } from '../domain/id.ts';
import { ChangeSignals } from './change-signals.ts';

const one = 'thr_1' as ThreadId;
const other = 'thr_2' as ThreadId;

describe('Signals of threads', () => {
  it('reach every follower of that thread, and no one else', () => {
    const signals = new ChangeSignals<ThreadId>();
    const told: string[] = [];
    signals.follow(one, () => told.push('first'));
    signals.follow(one, () => told.push('second'));
    signals.follow(other, () => told.push('other'));
    signals.changed(one);
    assert.deepEqual(told, ['first', 'second']);
  });

  it('keep nothing of those who have stopped, also when they stop twice or follow again', () => {
    const signals = new ChangeSignals<ThreadId>();
    let told = 0;
    const tell = () => {
      told += 1;
    };
    const stop = signals.follow(one, tell);
    stop();
    const stopAgain = signals.follow(one, tell);
    stop();
    signals.changed(one);
    assert.equal(told, 1);
    stopAgain();
    signals.changed(one);
    assert.equal(told, 1);
    assert.equal(signals.followed, 0);
  });

  it('call a listener once per subscription, and at most once more after it unsubscribes', () => {
    const signals = new ChangeSignals<ThreadId>();
    let told = 0;
    const stops: (() => void)[] = [];
    const tell = () => {
      told += 1;
      for (const stop of stops) stop();
    };
    stops.push(signals.follow(one, tell), signals.follow(one, tell));
    signals.changed(one);
    signals.changed(one);
    assert.equal(told, 2);
  });
});
