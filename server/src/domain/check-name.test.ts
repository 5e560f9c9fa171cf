import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkName } from './check-name.ts';

describe('A name', () => {
  it('is measured in code points', () => {
    checkName('It', '🧶'.repeat(255), 1);
    rejects('🧶'.repeat(256), /^It must have 1 to 255 characters\.$/);
    rejects('', /1 to 255 characters/);
    rejects('\0', /NUL/);
  });

  it('is valid only without control characters and with a visible character', () => {
    for (const name of ['a\u001b[2Jb', 'two\nlines', 'bell\u0007', 'a\u202Eb', 'a\u2066b', '\u009b31m'])
      rejects(name, /control characters/);
    for (const name of [' ', '\u200B', '\u00A0\u200D', '\u3164', '\u2800']) rejects(name, /visible/);
    for (const name of ['Ada’s laptop', '夜間バッチ', 'مفتاح', 'a b', '👩‍🚀']) checkName('It', name, 1);
  });
});

function rejects(name: string, message: RegExp): void {
  assert.throws(() => checkName('It', name, 1), { code: 'INVALID_PARAMS', message });
}
