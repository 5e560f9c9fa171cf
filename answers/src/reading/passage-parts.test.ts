import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { splitCells, splitSentences, splitUnits, tableText } from './passage-parts.ts';

describe('splitting a passage into units', () => {
  const table = tableText(
    ['Plan', 'Price | month'],
    [
      ['Pro', '$1'],
      ['Free', ''],
    ],
  );
  const text = `First. Second\nline.\n\nYou need:\n- a pen. And ink\n  - paper\n\n${table}\n\n\`\`\`\nrun  | it\n\n- now\n\`\`\`\nLast.`;

  it('finds sentences, items, rows and lines of code, in order', () => {
    const rule = '| Plan | Price \\| month |\n| --- | --- |';
    assert.deepEqual(
      splitUnits(text).map(({ kind, text, words, header }) => [kind, text, words, header]),
      [
        ['sentence', 'First.', 1, undefined],
        ['sentence', 'Second line.', 2, undefined],
        ['sentence', 'You need:', 2, undefined],
        ['item', 'a pen. And ink', 4, undefined],
        ['item', 'paper', 1, undefined],
        ['row', '| Pro | $1 |', 5, rule],
        ['row', '| Free |  |', 4, rule],
        ['code', 'run  | it\n', 3, '```'],
        ['code', '- now', 2, '```'],
        ['sentence', 'Last.', 1, undefined],
      ],
    );
    const groups = splitUnits(text).map(({ group }) => group);
    assert.deepEqual(
      groups.map((group) => groups.indexOf(group)),
      [0, 0, 2, 3, 3, 5, 5, 7, 7, 9],
    );
  });

  it('makes a sentence of each row with its headers, each item and each line of code', () => {
    assert.deepEqual(splitSentences(text).slice(2), [
      'You need:',
      'a pen. And ink',
      'paper',
      'Plan: Pro; Price | month: $1',
      'Plan: Free',
      'run | it',
      '- now',
      'Last.',
    ]);
    assert.deepEqual(splitSentences(tableText(['', ''], [['Owner', 'Ada']])), ['Owner: Ada']);
  });

  it('keeps backslashes and pipes in cells', () => {
    const cells = ['a|b', '\\', 'c\\|', '|', ''];
    const [unit] = splitUnits(tableText(cells, [cells]));
    assert.equal(unit?.kind, 'row');
    assert.deepEqual([splitCells(unit.header!.split('\n')[0]!), splitCells(unit.text)], [cells, cells]);
  });

  it('reads an unclosed fence and a table without a rule as prose', () => {
    assert.deepEqual(
      splitUnits('```\na | b\n\n| a |\n| b |').map(({ kind }) => kind),
      ['sentence', 'sentence'],
    );
  });

  it('takes linear time', () => {
    for (const piece of ['```\n', '| a |\n', '|', '| --- |\n', '| --- ', '````\n```\n', '\\|']) {
      const startedAt = performance.now();
      splitUnits(piece.repeat(1_000_000 / piece.length));
      assert.ok(performance.now() - startedAt < 5_000, piece);
    }
  });
});
