import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { AttemptLimit, FailedSignIns } from './attempts.ts';

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

  it('takes an attempt back only from the minute in which it was counted', () => {
    fail('a', 9);
    const takeBack = attempts.count('a');
    takeBack();
    assert.equal(attempts.waitSeconds('a'), 0);
    const late = attempts.count('a');
    assert.equal(attempts.waitSeconds('a'), 60);
    nowMs += 60_000;
    fail('a', 10);
    late();
    assert.equal(attempts.waitSeconds('a'), 60);
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

describe('Failed sign-ins', () => {
  it('are returned at once the first time, and then combined every 15 minutes', () => {
    let now = 0;
    const failures = new FailedSignIns(() => now);
    const taken = (all?: boolean) =>
      failures.take(all).map(({ email, count, networks, traceId }) => [email, count, networks, traceId]);
    failures.count('ada', 'here', 't1');
    assert.deepEqual(taken(), [['ada', 1, 1, 't1']]);
    for (const network of ['here', 'there', 'here']) failures.count('ada', network, `from ${network}`);
    failures.count('ben', 'here', 't2');
    assert.deepEqual(taken(), [['ben', 1, 1, 't2']]);
    now = 15 * 60_000;
    assert.deepEqual(taken(), [['ada', 3, 2, 'from here']]);
    failures.count('ada', 'here', 't3');
    assert.deepEqual(taken(), []);
    assert.deepEqual(taken(true), [['ada', 1, 1, 't3']], 'stopping flushes the rest');
  });

  it('are returned after the clock was set back', () => {
    let now = 86_400_000;
    const failures = new FailedSignIns(() => now);
    failures.count('ada', 'here', 't1');
    failures.take();
    now = 0;
    failures.count('ada', 'here', 't2');
    assert.equal(failures.take()[0]?.traceId, 't2');
  });

  it('do not include a password that was chosen for another organization, unless many are chosen in a day', () => {
    let now = 0;
    const failures = new FailedSignIns(() => now);
    for (let choice = 0; choice < 3; choice += 1) failures.countChoice('ada', 'here', 't1');
    assert.deepEqual(failures.take(), []);
    failures.countChoice('ben', 'here', 't2');
    failures.countChoice('ada', 'there', 't3');
    assert.deepEqual(
      failures.take().map(({ email, count, traceId }) => [email, count, traceId]),
      [['ada', 1, 't3']],
    );
    now = 86_400_000;
    failures.countChoice('ada', 'here', 't4');
    assert.deepEqual(failures.take(), []);
  });

  it('stay counted if they could not be written', () => {
    const failures = new FailedSignIns(() => 0);
    failures.count('ada', 'here', 't1');
    failures.take()[0]!.giveBack();
    assert.equal(failures.take()[0]?.count, 1);
  });

  it('are bounded in memory, however many addresses are tried', () => {
    const failures = new FailedSignIns(() => 0);
    for (let person = 0; person < 10_050; person += 1) failures.count(`${person}`, 'here', 't');
    for (let index = 0; index < 200; index += 1) failures.count('10049', `${index}`, 't');
    const taken = failures.take();
    assert.equal(taken.length, 10_000);
    const { count, networks } = taken.at(-1)!;
    assert.deepEqual([count, networks], [201, 100]);
  });
});
