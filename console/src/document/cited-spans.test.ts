import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { citedSpans } from './cited-spans.ts';
import { headingsBetween } from './heading-path.ts';
import { passageBlocks } from './passage-blocks.ts';

const passage = `Unused yarn can be returned within 30 days. Sale items cannot be refunded, whatever their state.

| Place | Price |
| --- | --- |
| Norway | €12 per parcel |
| Rest \\| other | €18 per parcel |

- Bring the receipt to the shop
- 2. is not a number here

\`\`\`
wash --cold
\`\`\``;

describe('the blocks of a passage', () => {
  test('are paragraphs, tables, lists and code, at their places in the text', () => {
    const blocks = passageBlocks(passage);
    assert.deepEqual(
      blocks.map(({ kind }) => kind),
      ['paragraph', 'table', 'list', 'code'],
    );
    const [paragraph, table, list, code] = blocks as any[];
    assert.equal(paragraph.piece.start, 0);
    assert.deepEqual(
      [table.header, ...table.rows].map((row: any[]) => row.map(({ text }) => text)),
      [
        ['Place', 'Price'],
        ['Norway', '€12 per parcel'],
        ['Rest \\| other', '€18 per parcel'],
      ],
    );
    assert.deepEqual(
      list.items.map(({ text }: any) => text),
      ['Bring the receipt to the shop', '2. is not a number here'],
    );
    assert.equal(code.piece.text, 'wash --cold');
    for (const { text, start } of [...table.rows.flat(), ...list.items, code.piece]) {
      assert.equal(passage.slice(start, start + text.length), text);
    }
  });

  test('keep the fences that code contains', () => {
    const code = '```sh\nnpm ci\n```\n\n- not an item';
    const text = `Write:\n\n\`\`\`\`\n${code}\n\`\`\`\`\n\nAfter it.`;
    assert.deepEqual(
      passageBlocks(text).map((block) => ('piece' in block ? block.piece.text : block.kind)),
      ['Write:', code, 'After it.'],
    );
  });

  test('stay readable for text that only looks like them', () => {
    for (const text of ['```', '|', '| a', '-', '```\n', 'a\n\n\nb', ''])
      assert.ok(Array.isArray(passageBlocks(text)));
    assert.deepEqual(passageBlocks('```\nopen'), [{ kind: 'code', piece: { text: 'open', start: 4 } }]);
    assert.deepEqual(passageBlocks('5 * 3 _is_ not **bold**')[0], {
      kind: 'paragraph',
      piece: { text: '5 * 3 _is_ not **bold**', start: 0 },
    });
  });
});

describe('the cited part of a passage', () => {
  const marked = (cited: string) =>
    citedSpans(passage, cited).map(({ start, end }) => passage.slice(start, end));

  test('is the sentence that a reply quotes', () => {
    assert.deepEqual(marked('Unused yarn can be returned within 30 days.'), [
      'Unused yarn can be returned within 30 days.',
    ]);
  });

  test('is the sentence that a reply puts in its own words', () => {
    assert.deepEqual(marked('You can return yarn that is unused: within 30 days it is possible'), [
      'Unused yarn can be returned within 30 days.',
    ]);
  });

  test('is the row of a table', () => {
    assert.deepEqual(marked('To Norway a parcel costs €12 per parcel'), ['Norway', '€12 per parcel']);
  });

  test('is nothing if nothing is close', () => {
    assert.deepEqual(marked('Whales sing at night'), []);
    assert.deepEqual(marked('…'), []);
  });
});

test('the headings between two passages are those that start there', () => {
  const between = (before: string, after: string) =>
    headingsBetween(before, after).map(({ text, depth }) => `${depth} ${text}`);
  assert.deepEqual(between('', 'A › B'), ['1 A', '2 B']);
  assert.deepEqual(between('A › B', 'A › C'), ['2 C']);
  assert.deepEqual(between('A › B › C', 'D'), ['1 D']);
  assert.deepEqual(between('A › B', 'A › B'), []);
  assert.deepEqual(between('A › B', 'A'), []);
  assert.deepEqual(between('A', ''), []);
});
