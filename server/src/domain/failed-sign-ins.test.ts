import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FailedSignIns } from './attempts.ts';

describe('Failed sign-ins', () => {
  it('are returned at once the first time, and then combined every 15 minutes', () => {
    let now = 0;
    const failures = new FailedSignIns(() => now);
    const taken = (all?: boolean) =>
      failures.take(all).map(({ email, count, places, traceId }) => [email, count, places, traceId]);
    failures.count('ada', 'here', 't1');
    assert.deepEqual(taken(), [['ada', 1, 1, 't1']]);
    for (const place of ['here', 'there', 'here']) failures.count('ada', place, `from ${place}`);
    failures.count('ben', 'here', 't2');
    assert.deepEqual(taken(), [['ben', 1, 1, 't2']]);
    now = 15 * 60_000;
    assert.deepEqual(taken(), [['ada', 3, 2, 'from here']]);
    failures.count('ada', 'here', 't3');
    assert.deepEqual(taken(), []);
    assert.deepEqual(taken(true), [['ada', 1, 1, 't3']], 'a stop keeps the rest');
  });

  it('stay counted if they could not be written', () => {
    const failures = new FailedSignIns(() => 0);
    failures.count('ada', 'here', 't1');
    failures.take();
    failures.giveBack('ada', 1);
    assert.equal(failures.take()[0]?.count, 1);
  });

  it('are bounded in memory, however many addresses are tried', () => {
    const failures = new FailedSignIns(() => 0);
    for (let person = 0; person < 10_050; person += 1) failures.count(`${person}`, 'here', 't');
    for (let place = 0; place < 200; place += 1) failures.count('10049', `${place}`, 't');
    const taken = failures.take();
    assert.equal(taken.length, 10_000);
    const { count, places } = taken.at(-1)!;
    assert.deepEqual([count, places], [201, 100]);
  });
});
