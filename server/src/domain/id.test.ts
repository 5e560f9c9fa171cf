import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createIdGenerator, isThreadId } from './id.ts';

const highest = (size: number) => new Uint8Array(size).fill(255);

describe('Ids', () => {
  it('have their prefix and 26 characters of the id alphabet', () => {
    const ids = createIdGenerator(Date.now, highest);
    assert.match(ids.thread(), /^thr_[0-9a-hjkmnp-tv-z]{26}$/);
    for (const kind of ['organization', 'user', 'key', 'message'] as const) {
      assert.match(ids[kind](), /^(org|usr|key|msg)_[0-9a-hjkmnp-tv-z]{26}$/);
    }
    assert.ok(isThreadId(ids.thread()));
    for (const text of [
      '',
      'thr_',
      'thr_ILOU',
      `msg_${'0'.repeat(26)}`,
      `thr_${'0'.repeat(27)}`,
      `thr_${'0'.repeat(26)}\n`,
    ]) {
      assert.ok(!isThreadId(text), text);
    }
  });

  it('sort in order of creation: over time, within a millisecond, and when the clock steps back', () => {
    let ms = 1_000_000_000_000;
    let byte = 200;
    const ids = createIdGenerator(
      () => ms,
      (size) => {
        byte = (byte * 7) % 256;
        return new Uint8Array(size).fill(byte);
      },
    );
    const made: string[] = [];
    for (const step of [0, 0, 1, 0, 1000, -5000, 0, 6000, 0]) {
      ms += step;
      made.push(ids.thread());
    }
    assert.deepEqual(made, [...made].sort());
    assert.equal(new Set(made).size, made.length);
  });

  it('carry over when the random part is at its highest', () => {
    const ids = createIdGenerator(() => 1, highest);
    const [first, second] = [ids.thread(), ids.thread()];
    assert.ok(first.endsWith('z'.repeat(16)));
    assert.ok(second.endsWith('0'.repeat(16)));
    assert.notEqual(first, second);
  });
});
