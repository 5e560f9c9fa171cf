import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { AttemptLimit } from './attempts.ts';

describe('A limit of attempts', () => {
  let nowMs = 0;
  let attempts: AttemptLimit;
  beforeEach(() => {
    nowMs = Date.UTC(2026, 10, 15);
    attempts = new AttemptLimit(() => nowMs, 10);
  });
  const fail = (key: string, times: number) => {
    for (let time = 0; time < times; time += 1) attempts.count(key);
  };

  it('allows ten, and makes further ones wait for the rest of the minute', () => {
    assert.equal(attempts.waitSeconds('a'), 0);
    fail('a', 9);
    assert.equal(attempts.waitSeconds('a'), 0);
    fail('a', 1);
    assert.equal(attempts.waitSeconds('a'), 60);
    nowMs += 58_500;
    assert.equal(attempts.waitSeconds('a'), 2);
    nowMs += 1499;
    assert.equal(attempts.waitSeconds('a'), 1);
    nowMs += 1;
    assert.equal(attempts.waitSeconds('a'), 0);
  });

  it('counts a minute from the first failure, and then starts again', () => {
    fail('a', 9);
    nowMs += 60_000;
    fail('a', 9);
    assert.equal(attempts.waitSeconds('a'), 0);
    fail('a', 1);
    assert.equal(attempts.waitSeconds('a'), 60);
  });

  it('does not extend the wait after failures during it', () => {
    fail('a', 10);
    nowMs += 30_000;
    fail('a', 10);
    assert.equal(attempts.waitSeconds('a'), 30);
  });

  it('counts each key separately', () => {
    fail('client 192.0.2.1', 10);
    assert.equal(attempts.waitSeconds('client 192.0.2.1'), 60);
    assert.equal(attempts.waitSeconds('client 192.0.2.2'), 0);
    assert.equal(attempts.waitSeconds('other 192.0.2.1'), 0);
  });

  it('makes no caller wait longer than a minute when the clock is set back', () => {
    fail('a', 10);
    nowMs -= 3_600_000;
    assert.equal(attempts.waitSeconds('a'), 0);
  });

  it('remembers at most ten thousand keys, and drops the oldest first', () => {
    fail('first', 10);
    fail('second', 10);
    for (let number = 0; number < 9_998; number += 1) attempts.count(`made up ${number}`);
    assert.equal(attempts.waitSeconds('first'), 60);
    attempts.count('one more');
    assert.equal(attempts.waitSeconds('first'), 0);
    assert.equal(attempts.waitSeconds('second'), 60);
  });
});
