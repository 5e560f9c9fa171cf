import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { extractTerms, splitWords, tokenize } from './terms.ts';

describe('the terms of a text', () => {
  it('are the same for the forms of a word', () => {
    for (const forms of [
      'refund refunds Refunded refunding',
      'pay pays paying',
      'policy policies',
      'organize organisations',
    ]) {
      assert.equal(new Set(tokenize(forms)).size, 1, forms);
    }
  });

  it('distinguish a verb in -ize from the word it is derived from', () => {
    for (const words of ['capital capitalize', 'organ organization']) {
      assert.equal(new Set(tokenize(words)).size, 2, words);
    }
  });

  it('distinguish what was founded from what was found', () => {
    assert.equal(new Set(tokenize('founded founder founders founding')).size, 1);
    assert.equal(new Set(tokenize('founded found')).size, 2);
  });

  it('are the same with and without diacritics, in any case and any width', () => {
    assert.deepEqual(extractTerms('Café CAFE cafe\u0301 ｃａｆｅ'), extractTerms('cafe'));
    assert.deepEqual(extractTerms('Straße'), extractTerms('strasse'));
  });

  it('keep numbers whole and separate from their units', () => {
    assert.deepEqual(extractTerms('30,000'), ['30000']);
    assert.deepEqual(splitWords('5GB'), ['5', 'gb']);
  });

  it('split at apostrophes', () => {
    assert.deepEqual(splitWords("The customer's card doesn’t work, can't it?"), [
      ...['the', 'customer', 'card', 'does', 'not', 'work', 'can', 'not', 'it'],
    ]);
  });

  it('leave out stop words', () => {
    assert.deepEqual(extractTerms('What is the a of to and?'), []);
  });

  it('keep a word that looks like a form of a stop word', () => {
    assert.deepEqual(extractTerms('evening'), ['evening']);
  });

  it('find words in scripts without spaces', () => {
    assert.ok(extractTerms('東京都の天気はどうですか').includes('天気'));
    assert.ok(extractTerms('สวัสดีประเทศไทย').length > 1);
  });

  it('are found in scripts without spaces with one call of the segmenter', (test) => {
    const segmented = test.mock.method(Intl.Segmenter.prototype, 'segment');
    assert.deepEqual(splitWords('毛糸!あ!5gb字!x1 \u0301ก'), ['毛糸', 'あ', '5', 'gb', '字', 'x1', 'ก']);
    assert.equal(segmented.mock.callCount(), 1);
  });

  it('are found without sorting thousands of marks on one letter', (test) => {
    const normalized = test.mock.method(String.prototype, 'normalize');
    for (const marks of ['\u0301\u0323', '\u05b4\u05bc', '\u0345\u0301', '\u0301\uff9e']) {
      assert.deepEqual(extractTerms(`wool${marks.repeat(1_000)} yarn`), ['wool', 'yarn']);
    }
    const texts = normalized.mock.calls.map((call) => String(call.this));
    assert.ok(texts.length > 0);
    for (const text of texts) assert.doesNotMatch(text, /[\p{M}\uff9e]{9}/u);
  });

  it('are at most 64 letters and digits, whatever the text contains', () => {
    const texts = [
      'a-b_c·d',
      'हिन्दी भाषा',
      '\u{1f600}x\u{1f600}',
      '𝒳'.repeat(200),
      `${'x'.repeat(63)}𐐀𐐀`,
      '\ud800 \udfff',
      'ﷺ',
    ];
    for (const text of texts) {
      for (const term of extractTerms(text)) {
        assert.match(term, /^[\p{L}\p{N}]+$/u);
        assert.ok(term.length <= 64);
      }
    }
  });
});
