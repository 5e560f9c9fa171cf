import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { partsOf, sentencesOf, tableText } from './passage-parts.ts';

describe('splitting a passage into parts', () => {
  const table = tableText(
    ['Plan', 'Price | month'],
    [
      ['Pro', '$1'],
      ['Free', ''],
    ],
  );
  const text = `First. Second\nline.\n\nYou need:\n- a pen. And ink\n  - paper\n\n${table}\n\n\`\`\`\nrun  | it\n\n- now\n\`\`\`\nLast.`;

  it('finds prose, lists, tables and code, in order', () => {
    assert.deepEqual(partsOf(text), [
      { kind: 'prose', lines: ['First. Second', 'line.'], sentences: ['First.', 'Second line.'] },
      { kind: 'prose', lines: ['You need:'], sentences: ['You need:'] },
      { kind: 'list', lines: ['- a pen. And ink', '  - paper'], items: ['a pen. And ink', 'paper'] },
      {
        kind: 'table',
        lines: ['| Plan | Price \\| month |', '| --- | --- |', '| Pro | $1 |', '| Free |  |'],
        header: ['Plan', 'Price | month'],
        rows: [
          ['Pro', '$1'],
          ['Free', ''],
        ],
      },
      { kind: 'code', lines: ['```', 'run  | it', '', '- now', '```'], code: ['run  | it', '', '- now'] },
      { kind: 'prose', lines: ['Last.'], sentences: ['Last.'] },
    ]);
  });

  it('makes a sentence of each row with its headers, each item and each line of code', () => {
    assert.deepEqual(sentencesOf(text).slice(2), [
      'You need:',
      'a pen. And ink',
      'paper',
      'Plan: Pro; Price | month: $1',
      'Plan: Free',
      'run | it',
      '- now',
      'Last.',
    ]);
    assert.deepEqual(sentencesOf(tableText(['', ''], [['Owner', 'Ada']])), ['Owner: Ada']);
  });

  it('keeps backslashes and pipes in cells', () => {
    const cells = ['a|b', '\\', 'c\\|', '|', ''];
    const [part] = partsOf(tableText(cells, [cells]));
    assert.ok(part?.kind === 'table');
    assert.deepEqual([part.header, part.rows[0]], [cells, cells]);
  });

  it('reads an unclosed fence and a table without a rule as prose', () => {
    assert.deepEqual(
      partsOf('```\na | b\n\n| a |\n| b |').map(({ kind }) => kind),
      ['prose', 'prose'],
    );
  });

  it('takes linear time', () => {
    for (const piece of ['```\n', '| a |\n', '|', '| --- |\n', '| --- ', '````\n```\n', '\\|']) {
      const startedAt = performance.now();
      partsOf(piece.repeat(1_000_000 / piece.length));
      assert.ok(performance.now() - startedAt < 5_000, piece);
    }
  });
});
