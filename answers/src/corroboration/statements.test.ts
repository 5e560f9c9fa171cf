import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { splitPieces } from './statements.ts';

function findStatements(draft: string): string[] {
  return [...splitPieces(draft)].filter(({ isStatement }) => isStatement).map(({ text }) => text);
}

describe('splitting a draft into statements', () => {
  it('finds sentences, list items and lines', () => {
    const draft =
      'Goods go back in 30 days. Books are refunded too!\n\n- Shipping costs €5\n2. Gifts are wrapped\n| Plan | costs €9 |\n';
    assert.deepEqual(findStatements(draft), [
      'Goods go back in 30 days.',
      'Books are refunded too!',
      'Shipping costs €5',
      'Gifts are wrapped',
      '| Plan | costs €9 |',
    ]);
  });

  it('names each passage that a statement cites once', () => {
    const cites = [...splitPieces('Cats sleep [2] late [1][2], says [1].')].map((piece) => piece.cites);
    assert.deepEqual(cites, [[2, 1]]);
  });

  it('finds statements with polite openings, and negative statements', () => {
    for (const statement of [
      'Based on the refund policy, unused goods go back within 30 days.',
      'Sure, unused goods go back to the shop within 30 days.',
      'I’m afraid gift cards cannot be exchanged for money at the counter.',
      'Damage by water is not covered.',
      'The library does not open on Sundays.',
      'Please note that parcels leave on Tuesday.',
    ]) {
      assert.deepEqual(findStatements(statement), [statement]);
    }
  });

  it('leaves out questions, greetings, offers and introductions', () => {
    for (const words of [
      'Which plan do you mean?',
      'Hello and welcome!',
      'Sure, happy to help.',
      'Thank you for asking!',
    ]) {
      assert.deepEqual(findStatements(words), [], words);
    }
    for (const words of [
      'Let me know whether green goats matter to you.',
      'Here are the steps to take:',
      '## Green goats',
    ]) {
      assert.deepEqual(findStatements(words), [], words);
    }
  });

  it('leaves out statements about the documents themselves', () => {
    for (const words of [
      'The documents do not mention green goats.',
      'However, the provided context does not say who feeds the goats.',
      'I could not find any green goats.',
      'Green goats are not mentioned in the documents.',
      'There is no information about green goats in the passages.',
      'The documents do not answer this.',
      'The closest documents are “Goats” and “Colours of goats”.',
    ]) {
      assert.deepEqual(findStatements(words), [], words);
    }
  });

  it('assigns each citation to its statement, wherever it is placed', () => {
    const draft =
      'Goods are refunded [1]. Books are refunded.[2] Maps are refunded. [3][4] Pens are refunded [5, 6].';
    const marks = [...splitPieces(draft)]
      .filter(({ isStatement }) => isStatement)
      .map((piece) => piece.cites);
    assert.deepEqual(marks, [[1], [2], [3, 4], [5, 6]]);
  });

  it('keeps every character of the draft except its citations', () => {
    const drafts = [
      'a\n\n\nb  \n',
      '  \n\t- x y z.\n\n```\n[1]\n',
      '> quoted words here\nand more words.',
      ' ',
      '\r\n\r\n',
      '`[1]` and [0].',
    ];
    for (const draft of drafts) assert.equal([...splitPieces(draft)].map(({ text }) => text).join(''), draft);
  });
});
