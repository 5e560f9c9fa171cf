import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jsonLine, measureWidth, render } from './output.ts';

describe('A line of JSON', () => {
  it('has the same value, and nothing that changes what a terminal shows', () => {
    const hostile = Array.from({ length: 0x2100 }, (_, code) => String.fromCharCode(code)).join('');
    const line = jsonLine({ title: hostile });
    assert.doesNotMatch(line.slice(0, -1), /\p{Cc}|\p{Bidi_Control}(?<![\u061c\u200e\u200f])/u);
    assert.deepEqual(JSON.parse(line), { title: hostile });
  });

  it('has times as in the API', () => {
    const line = jsonLine([{ at: 0, createdAt: 1, invitedUntil: 2, revokedAt: null, dailyQuota: 3 }]);
    const time = (ms: number) => new Date(ms).toISOString();
    assert.deepEqual(JSON.parse(line), [
      { at: time(0), createdAt: time(1), invitedUntil: time(2), revokedAt: null, dailyQuota: 3 },
    ]);
  });
});

describe('A table', () => {
  it('aligns its columns below titles of wide and combining characters', () => {
    const titles = ['Wool', '毛糸の長さ', '🧶 Yarn', 'Cafe\u0301', '\u{20bb7}野家'];
    const rows = titles.map((title) => ({ TITLE: title, ID: 'thr_1' }));
    const text = render([{ rows, whenEmpty: '' }], (part) => part);
    // Each line as the columns that it takes: `#` is the second column of a wide character.
    const lines = text
      .replace(/\u0301/g, '')
      .replace(/[毛糸の長さ🧶\u{20bb7}野家]/gu, '$&#')
      .split('\n')
      .map((line) => [...line].indexOf('t'));
    assert.deepEqual(lines, Array(titles.length).fill(12));
  });

  it('can have any number of rows', () => {
    const rows = Array.from({ length: 200_000 }, () => ({ ID: 'thr_1', TITLE: 'Wool' }));
    const text = render([{ rows, whenEmpty: '' }], (part) => part);
    assert.equal(text, 'thr_1  Wool\n'.repeat(rows.length).trimEnd());
  });

  it('counts a flag and an emoji of several code points like any other emoji', () => {
    for (const emoji of ['🧶', '🇳🇱', '👩‍👩‍👧‍👦', '👍🏽', '❤️‍🔥', '🏴󠁧󠁢󠁳󠁣󠁴󠁿'])
      assert.equal(measureWidth(`a${emoji}b`), 4, emoji);
  });
});
