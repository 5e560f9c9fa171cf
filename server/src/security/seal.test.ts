import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openWalk, sealWalk, type Walk } from '../domain/cursor.ts';
import type { ThreadId } from '../domain/id.ts';
import { createSeal } from './seal.ts';

const seal = createSeal(new Uint8Array(32).fill(7));
const walk: Walk = {
  after: { activityAt: 1_700_000_000_123, id: 'thr_x' as ThreadId },
  start: '12.34',
  walked: 50,
  truncated: true,
};

describe('A cursor', () => {
  it('decrypts to the same walk, for any holder of the key', () => {
    const cursor = sealWalk(seal, 'listing', walk);
    assert.deepEqual(openWalk(seal, 'listing', cursor), walk);
    assert.deepEqual(openWalk(createSeal(new Uint8Array(32).fill(7)), 'listing', cursor), walk);
  });

  it('does not reveal its content', () => {
    const cursor = sealWalk(seal, 'listing', walk);
    assert.ok(!Buffer.from(cursor, 'base64url').includes('thr_x'));
    assert.notEqual(sealWalk(seal, 'listing', walk), cursor);
  });

  it('does not decrypt for another listing, with another key, or when it is empty', () => {
    const cursor = sealWalk(seal, 'listing', walk);
    assert.equal(openWalk(seal, 'another', cursor), undefined);
    assert.equal(openWalk(createSeal(new Uint8Array(32)), 'listing', cursor), undefined);
    assert.equal(openWalk(seal, 'listing', ''), undefined);
  });

  it('does not decrypt when any one of its characters was changed, dropped or doubled', () => {
    const cursor = sealWalk(seal, 'listing', walk);
    for (let index = 0; index < cursor.length; index += 1) {
      for (const other of ['A', 'B', 'g', '-', '_', '=', '+', '/', ' ', '\u00e9']) {
        if (other === cursor[index]) continue;
        assert.equal(
          openWalk(seal, 'listing', cursor.slice(0, index) + other + cursor.slice(index + 1)),
          undefined,
        );
        assert.equal(
          openWalk(seal, 'listing', cursor.slice(0, index) + other + cursor.slice(index)),
          undefined,
        );
      }
      assert.equal(openWalk(seal, 'listing', cursor.slice(0, index) + cursor.slice(index + 1)), undefined);
    }
    for (const end of ['=', '==', 'A', cursor])
      assert.equal(openWalk(seal, 'listing', cursor + end), undefined);
  });

  it('does not decrypt when it was encrypted by another version', () => {
    assert.equal(openWalk(seal, 'listing', seal.seal('listing', '0|1|thr_x|1.1|1|0')), undefined);
    assert.equal(openWalk(seal, 'listing', seal.seal('listing', '1|1|thr_x')), undefined);
  });
});
