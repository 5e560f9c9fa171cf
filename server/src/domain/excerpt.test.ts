import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { splitWords, toTerm } from '../../../answers/src/index.ts';
import { hitFinder, plainText, type Segment, searchedWords } from './excerpt.ts';

const vocabulary = { splitWords, toTerm };
const finderOf = (search: string) => hitFinder(searchedWords(search, vocabulary)!, vocabulary);
/** Hits in brackets. */
const shown = (segments: readonly Segment[] | undefined) =>
  segments?.map(({ text, hit }) => (hit ? `[${text}]` : text)).join('');
const marked = (search: string, text: string) => shown(finderOf(search).mark(text));

describe('The words of a search', () => {
  it('are terms, of which the last may be unfinished', () => {
    assert.deepEqual(searchedWords('Refunds poli', vocabulary), {
      terms: ['refund'],
      last: { term: 'poli', prefix: 'poli' },
    });
    assert.deepEqual(searchedWords('Refunds ', vocabulary), { terms: ['refund'] });
    assert.deepEqual(searchedWords('re', vocabulary), { terms: ['re'] });
    for (const search of ['東', 'か', 'カ', 'по', 'αβ'])
      assert.equal(searchedWords(search, vocabulary)?.last?.prefix, search);
    for (const search of ['п', 'α', '한', '𐐨'])
      assert.deepEqual(searchedWords(search, vocabulary), { terms: [search] });
  });

  it('are at most 32, and none in punctuation, emoji or white space', () => {
    for (const search of ['', '  ', '"*":^()', '🧵 👋', '\u200b'])
      assert.equal(searchedWords(search, vocabulary), undefined);
    const many = searchedWords(
      `${Array.from({ length: 300 }, (_, place) => `w${place}`).join(' ')} `,
      vocabulary,
    );
    assert.equal(many?.terms.length, 32);
  });
});

describe('An excerpt', () => {
  it('marks every form of the words, and longer words for the last one', () => {
    assert.equal(marked('refund sil', 'Refunds: silk is refunded.'), '[Refunds]: [silk] is [refunded].');
    assert.equal(marked('resume', 'Das Résumé'), 'Das [Résumé]');
    assert.equal(marked('strasse', 'Die Straße'), 'Die [Straße]');
    assert.equal(marked('refund ', 'Nothing here'), 'Nothing here');
  });

  it('marks only the word in scripts without spaces', () => {
    assert.equal(marked('東京', '私は東京に住んでいます'), '私は[東京]に住んでいます');
  });

  it('loses nothing of the text', () => {
    const text = 'a <b>refund</b> & "refund"';
    const segments = finderOf('refund').mark(text);
    assert.equal(segments.map(({ text }) => text).join(''), text);
    assert.equal(segments.filter(({ hit }) => hit).length, 2);
  });

  it('shows the words around the first hit, and cuts neither a word nor a character', () => {
    const text = `${'before '.repeat(50)}the refund is paid ${'after '.repeat(50)}`;
    const excerpt = finderOf('refund').excerpt(text, 80);
    const words = shown(excerpt?.segments) ?? '';
    assert.match(words, /^…before (?:before )*the \[refund\] is paid (?:after )*after…$/);
    assert.ok(words.length < 100, words);
    assert.equal(excerpt?.found, 1);
    assert.equal(finderOf('silk').excerpt(text, 80), undefined);
    const emoji = finderOf('refund').excerpt(`${'🧵'.repeat(99)}refund${'🧵'.repeat(99)}`, 40);
    assert.ok(emoji?.segments.every(({ text }) => text.isWellFormed()));
  });
});

describe('Markdown as plain text', () => {
  it('is one line without marks and citations', () => {
    const markdown =
      '## Refunds\n\n**Thirty days.** [1] See [the terms](https://example.org).\n\n- `a`\n- b\n```ts\ncode\n```';
    assert.equal(plainText(markdown), 'Refunds Thirty days. See the terms. a b code');
    assert.equal(plainText('```a``` is inline code'), 'a is inline code');
  });

  it('takes no longer for hostile text', () => {
    for (const text of [
      '['.repeat(100_000),
      '*'.repeat(100_000),
      '[](('.repeat(30_000),
      '\n>'.repeat(50_000),
    ])
      assert.ok(plainText(text).length <= text.length);
  });
});
