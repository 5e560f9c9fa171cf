import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { passwordFault } from './sign-in.ts';

const fault = (password: string) => passwordFault(password, 'ada.lovelace@x.example');

describe('A password', () => {
  it('may be any ten characters, without rules about digits and symbols', () => {
    assert.equal(fault('violin sky'), undefined);
    assert.equal(fault('скрипкаинебо'), undefined);
    assert.equal(fault('x y'.repeat(85)), undefined);
  });

  it('has at least ten code points, and at most 256', () => {
    assert.match(fault('ninechars') ?? '', /at least 10 characters/);
    assert.match(fault('🎻🎼🎵'.repeat(3)) ?? '', /at least 10 characters/);
    assert.match(fault('a b'.repeat(86)) ?? '', /at most 256 characters/);
  });

  it('is neither the address nor its local part', () => {
    for (const text of ['ada.lovelace@x.example', 'Ada.Lovelace', ' ada.lovelace '])
      assert.match(fault(text) ?? '', /your address/);
  });

  it('is not a common one', () => {
    for (const text of ['Password123', '1234567890', 'qwertyuiop', 'aaaaaaaaaaaa', 'abababababab'])
      assert.match(fault(text) ?? '', /too common/);
  });
});
