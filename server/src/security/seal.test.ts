import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openCursor, sealCursor, type Walk } from '../domain/cursor.ts';
import type { ThreadId } from '../domain/id.ts';
import { createSeal } from './seal.ts';

const seal = createSeal(new Uint8Array(32).fill(7));
const walk: Walk = {
  after: { activityAt: 1_700_000_000_123, id: 'thr_x' as ThreadId },
  start: '12.34',
  walked: 50,
  truncated: true,
};

function rejects(cursor: string, opener = seal, listing = ['listing']): void {
  assert.throws(() => openCursor(opener, listing, cursor), { code: 'INVALID_PARAMS' });
}

describe('A cursor', () => {
  it('decrypts to the same walk, for any holder of the key', () => {
    const cursor = sealCursor(seal, ['listing'], walk);
    assert.deepEqual(openCursor(seal, ['listing'], cursor), walk);
    assert.deepEqual(openCursor(createSeal(new Uint8Array(32).fill(7)), ['listing'], cursor), walk);
  });

  it('does not reveal its content', () => {
    const cursor = sealCursor(seal, ['listing'], walk);
    assert.ok(!Buffer.from(cursor, 'base64url').includes('thr_x'));
    assert.notEqual(sealCursor(seal, ['listing'], walk), cursor);
  });

  it('does not decrypt for another listing, with another key, or when it is empty', () => {
    const cursor = sealCursor(seal, ['listing'], walk);
    rejects(cursor, seal, ['another']);
    rejects(cursor, createSeal(new Uint8Array(32)), ['listing']);
    rejects('');
  });

  it('does not decrypt when any one of its characters was changed, dropped or doubled', () => {
    const cursor = sealCursor(seal, ['listing'], walk);
    for (let index = 0; index < cursor.length; index += 1) {
      for (const other of ['A', 'B', 'g', '-', '_', '=', '+', '/', ' ', '\u00e9']) {
        if (other === cursor[index]) continue;
        rejects(cursor.slice(0, index) + other + cursor.slice(index + 1));
        rejects(cursor.slice(0, index) + other + cursor.slice(index));
      }
      rejects(cursor.slice(0, index) + cursor.slice(index + 1));
    }
    for (const end of ['=', '==', 'A', cursor]) rejects(cursor + end);
  });

  it('does not decrypt when it was encrypted by another version', () => {
    rejects(seal.seal(JSON.stringify(['listing']), JSON.stringify(walk)));
    rejects(seal.seal(JSON.stringify([1, 'listing']), JSON.stringify(walk)));
  });
});
