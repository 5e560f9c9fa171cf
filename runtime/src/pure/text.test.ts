import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { counted, isStorable, printable, printableLines, shortened } from './text.ts';

describe('A text from outside', () => {
  it('can be stored unless it contains a NUL or a lone surrogate', () => {
    for (const text of ['', ' ', '🧶', '\u{10FFFF}', '\uFFFD', '\u0001'])
      assert.ok(isStorable(text), JSON.stringify(text));
    for (const text of ['\0', 'a\0b', '\uD800', 'a\uDC00', '\uDC00\uD800'])
      assert.ok(!isStorable(text), JSON.stringify(text));
  });

  it('keeps its lines and tabs on a terminal, and no other control character', () => {
    assert.equal(printableLines('a\r\n\tb\u001b[2J\rc'), 'a\n\tb\uFFFD[2J\uFFFDc');
  });

  it('cannot reverse the line of a terminal that it is shown in', () => {
    assert.equal(printable('a\u202Eb\u2066c\u009b31m'), 'a\uFFFDb\uFFFDc\uFFFD31m');
    for (const text of ['مفتاح', 'עברית abc', '👩‍🚀']) assert.equal(printable(text), text);
  });
});

describe('A count', () => {
  it('is written with its noun, and with commas from a thousand on', () => {
    const counts = [0, 1, 999, 1000, 10_000, 1_234_567];
    assert.deepEqual(
      counts.map((count) => counted(count, 'row')),
      ['0 rows', '1 row', '999 rows', '1,000 rows', '10,000 rows', '1,234,567 rows'],
    );
  });
});

describe('shortened text', () => {
  it('is one line without control characters', () => {
    assert.equal(shortened(' a\u0007\n\tb\u2028c ', 50), 'a b c');
  });

  it('is cut at a word, and never within a surrogate pair', () => {
    assert.equal(shortened('one two three', 10), 'one two…');
    for (const length of [10, 11]) {
      const cut = shortened('\u{1F600}'.repeat(20), length);
      assert.ok(cut.isWellFormed() && cut.endsWith('…') && cut.length <= length, cut);
    }
  });
});
