import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Block, termLevel } from './blocks.ts';
import { countWords, splitCells, splitSentences, splitUnits, tableText } from './passage-parts.ts';
import { splitPassages as split } from './split-passages.ts';

const splitPassages = (blocks: readonly Block[], title: string) => split(blocks, title, 200);

const heading = (level: number, text: string): Block => ({ kind: 'heading', level, text });
const paragraph = (text: string): Block => ({ kind: 'paragraph', text });
const item = (text: string): Block => ({ kind: 'item', text: `- ${text}` });
const code = (text: string): Block => ({ kind: 'code', text });

function sentence(number: number, words: number): string {
  return `Sentence ${number} ${'word '.repeat(words - 3)}ends.`;
}

function prose(sentences: number, wordsEach: number): string {
  return Array.from({ length: sentences }, (_, index) => sentence(index, wordsEach)).join(' ');
}

describe('splitting a document into passages', () => {
  it('leaves out the number of a question that stands alone, but not a number that may be the answer', () => {
    const blocks = [
      paragraph('1.1.'),
      heading(2, 'Whom do I call?'),
      paragraph('112'),
      paragraph('1.2.'),
      heading(2, 'What is the code?'),
      paragraph('30.'),
      heading(2, 'Which versions are supported?'),
      item('1.2.'),
      heading(2, 'Contact'),
      paragraph('1.3.'),
    ];
    assert.deepEqual(
      [...splitPassages(blocks, 'Guide')],
      [
        { heading: 'Whom do I call?', text: '112' },
        { heading: 'What is the code?', text: '30.' },
        { heading: 'Which versions are supported?', text: '- 1.2.' },
        { heading: '', text: 'Contact' },
      ],
    );
  });

  it('gives each passage its headings, without the title', () => {
    const blocks = [
      heading(1, 'Guide'),
      paragraph('Intro.'),
      heading(2, 'Refunds'),
      paragraph('Within 30 days.'),
      heading(3, 'Digital goods'),
      paragraph('Never.'),
      heading(2, 'Contact'),
      paragraph('Write.'),
    ];
    assert.deepEqual(
      [...splitPassages(blocks, 'Guide')],
      [
        { heading: '', text: 'Intro.' },
        { heading: 'Refunds', text: 'Within 30 days.' },
        { heading: 'Refunds › Digital goods', text: 'Never.' },
        { heading: 'Contact', text: 'Write.' },
      ],
    );
  });

  it('keeps headings of the first level if there are several', () => {
    const blocks = [heading(1, 'One'), paragraph('A.'), heading(1, 'Two'), paragraph('B.')];
    assert.deepEqual(
      [...splitPassages(blocks, 'One')].map((passage) => passage.heading),
      ['One', 'Two'],
    );
  });

  it('makes text of a heading without text below it', () => {
    const blocks = [heading(1, 'T'), heading(2, 'Above'), heading(3, 'Lonely'), heading(2, 'Last')];
    assert.deepEqual(
      [...splitPassages(blocks, 'T')],
      [
        { heading: 'Above', text: 'Lonely' },
        { heading: '', text: 'Last' },
      ],
    );
  });

  it('makes none if there is no text', () => {
    assert.deepEqual([...splitPassages([], 'T')], []);
    assert.deepEqual([...splitPassages([heading(1, 'T'), code('\n \n')], 'T')], []);
  });

  it('keeps paragraphs, lists and code apart and unchanged', () => {
    const blocks = [
      paragraph('First.'),
      paragraph('You need:'),
      item('a pen'),
      item('ink'),
      code('if (x)\n\n  y()'),
    ];
    assert.equal(
      [...splitPassages(blocks, 'T')][0]?.text,
      'First.\n\nYou need:\n\n- a pen\n- ink\n\n```\nif (x)\n\n  y()\n```',
    );
  });

  it('keeps a text that ends with a colon together with the code below it', () => {
    const long = paragraph(prose(3, 40));
    const blocks = [long, item('Run this:'), code('word '.repeat(170)), long];
    const holder = [...splitPassages(blocks, 'T')].find(({ text }) => text.includes('Run this:'));
    assert.match(holder?.text ?? '', /- Run this:\n\n```\nword /);
  });

  it('makes passages of 60 to 180 words if the text is long enough', () => {
    for (const wordsEach of [5, 17, 40, 59]) {
      const blocks = Array.from({ length: 30 }, () => paragraph(prose(2, wordsEach)));
      const passages = [...splitPassages(blocks, 'T')];
      assert.ok(passages.length > 1);
      for (const { text } of passages) {
        const words = countWords(text);
        assert.ok(words >= 60 && words <= 180, `${words} words`);
      }
    }
  });

  it('cuts a long paragraph between sentences, and loses none', () => {
    const text = prose(60, 13);
    const passages = [...splitPassages([paragraph(text)], 'T')];
    assert.ok(passages.length >= 4);
    assert.deepEqual(
      passages.flatMap((passage) => splitSentences(passage.text)),
      splitSentences(text),
    );
  });

  it('cuts a huge sentence between words, and a huge word anywhere, without losing a character', () => {
    const texts = [
      'word '.repeat(5_000).trim(),
      'x'.repeat(100_000),
      '😀'.repeat(20_000),
      '漢字'.repeat(20_000),
    ];
    for (const text of texts) {
      const passages = [...splitPassages([paragraph(text)], 'T')];
      assert.ok(passages.length > 1);
      assert.ok(passages.every((passage) => countWords(passage.text) <= 180 && passage.text.isWellFormed()));
      const bare = (value: string) => value.replace(/\s/g, '');
      assert.equal(bare(passages.map((passage) => passage.text).join('')), bare(text));
    }
  });

  it('keeps a list with its introduction', () => {
    const list = Array.from({ length: 8 }, (_, index) => item(`thing ${index} ${'word '.repeat(8)}`.trim()));
    const passages = [...splitPassages([paragraph(prose(10, 12)), paragraph('You need:'), ...list], 'T')];
    assert.equal(passages.length, 2);
    assert.match(passages[1]?.text ?? '', /^You need:\n\n- thing 0 [\s\S]*- thing 7 /);
  });

  it('keeps the start of a long list with its introduction', () => {
    const list = Array.from({ length: 40 }, (_, index) => item(`thing ${index} ${'word '.repeat(8)}`.trim()));
    const passages = [...splitPassages([paragraph(prose(10, 14)), paragraph('You need:'), ...list], 'T')];
    assert.ok(passages.some(({ text }) => text.includes('You need:\n\n- thing 0')));
    assert.equal(passages.flatMap(({ text }) => text.match(/^- /gm) ?? []).length, 40);
  });

  it('cuts long code between lines', () => {
    const lines = Array.from({ length: 200 }, (_, index) => `  call(${index}, a, b, c)`);
    const passages = [...splitPassages([code(lines.join('\n'))], 'T')];
    assert.ok(passages.length > 1);
    assert.deepEqual(
      passages.flatMap(({ text }) =>
        splitUnits(text).flatMap((unit) => (unit.kind === 'code' ? unit.text : [])),
      ),
      lines,
    );
  });

  it('cuts a long table between rows, and repeats its header', () => {
    const rows = Array.from({ length: 80 }, (_, index) => [`Part ${index}`, 'one two three four']);
    const table: Block = { kind: 'table', text: tableText(['Name', 'What it is'], rows) };
    const passages = [...splitPassages([paragraph(prose(10, 12)), paragraph('All parts:'), table], 'T')];
    assert.ok(passages.length > 3);
    const tables = passages.map(({ text }) => splitUnits(text).filter(({ kind }) => kind === 'row'));
    assert.equal(tables.filter(({ length }) => length > 0).length, passages.length - 1);
    assert.ok(tables.flat().every(({ header }) => header === '| Name | What it is |\n| --- | --- |'));
    assert.deepEqual(
      tables.flat().map(({ text }) => splitCells(text)),
      rows,
    );
    assert.match(passages[1]?.text ?? '', /^All parts:\n\n\| Name/);
  });

  it('makes list items of table rows that are longer than a passage', () => {
    const long = prose(40, 10);
    const table: Block = { kind: 'table', text: tableText(['Name', 'Text'], [['a', long]]) };
    const passages = [...splitPassages([table], 'T')];
    assert.ok(passages.length > 1 && passages.every(({ text }) => countWords(text) <= 180));
    assert.match(passages[0]?.text ?? '', /^- Name: a; Text: Sentence 0 /);
  });

  it('limits the length of passages even if they have few words', () => {
    const row = tableText(['Name', 'x'.repeat(1_500)], [['a', 'b']]);
    const inputs: Record<string, readonly Block[]> = {
      bars: [paragraph('|\n'.repeat(500_000))],
      'empty lines': [code(`a\n${'\n'.repeat(1_000_000)}b`)],
      'lines of spaces': [code(`a\n${' \n'.repeat(1_000_000)}b`)],
      'long words': [paragraph(`${'x'.repeat(199)} `.repeat(5_000))],
      'long words in code': [code(`${'x'.repeat(199)}\n`.repeat(5_000))],
      'long words in items': Array.from({ length: 500 }, () => item('x'.repeat(1_900))),
      'wide tables': Array.from({ length: 100 }, (): Block => ({ kind: 'table', text: row })),
      'a long term': [heading(termLevel, 'x'.repeat(100_000)), paragraph(prose(60, 13))],
    };
    for (const [name, blocks] of Object.entries(inputs)) {
      const passages = [...splitPassages(blocks, 'T')];
      const longest = passages.reduce((most, { text }) => Math.max(most, text.length), 0);
      assert.ok(longest > 0 && longest <= 6_000, `${name}: ${longest} characters`);
      assert.ok(passages.every(({ text }) => /[^\s`]/.test(text)));
    }
  });

  it('splits code with very many lines', () => {
    assert.ok([...splitPassages([code('a b\n'.repeat(300_000))], 'T')].length > 3_000);
  });

  it('puts a longer fence around code that contains fences', () => {
    const [passage] = [...splitPassages([code('```\nx\n```')], 'T')];
    assert.deepEqual(
      splitUnits(passage?.text ?? '').map(({ header, text }) => [header, text]),
      ['```', 'x', '```'].map((line) => ['````', line]),
    );
  });
});
