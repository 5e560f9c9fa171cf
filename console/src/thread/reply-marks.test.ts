import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type HtmlNode, markReply } from './reply-marks.ts';

function text(value: string): HtmlNode {
  return { type: 'text', value };
}

function element(tagName: string, properties: Record<string, unknown>, ...children: HtmlNode[]): HtmlNode {
  return { type: 'element', tagName, properties, children };
}

/** The result for a paragraph: texts unchanged, other nodes as `<name attributes>content`. */
function marked(sourceCount: number, ...children: HtmlNode[]): string[] {
  const tree = { type: 'root', children: [element('p', {}, ...children)] };
  markReply({ sourceCount, headings: '24' })(tree);
  return (tree.children[0]?.children ?? []).map(shown);
}

function shown(node: HtmlNode): string {
  if (node.type !== 'element') return node.value ?? '';
  return `<${node.tagName} ${JSON.stringify(node.properties)}>${(node.children ?? []).map(shown).join('')}`;
}

const first = '<button {"dataCitation":"1"}>[1]';
const second = '<button {"dataCitation":"2"}>[2]';

describe('a citation', () => {
  test('becomes a button that stays on one line with the word before it and the punctuation after it', () => {
    assert.deepEqual(marked(2, text('Thirty days [1]. Then')), [
      'Thirty ',
      `<span {}>days ${first}.`,
      ' Then',
    ]);
    assert.deepEqual(marked(2, text('[1] says')), [`<span {}>${first}`, ' says']);
  });

  test('does not keep a very long word on its line', () => {
    const long = 'x'.repeat(25);
    assert.deepEqual(marked(2, text(`${long} [1]`)), [`${long} `, `<span {}>${first}`]);
  });

  test('of several sources becomes one button for each', () => {
    assert.deepEqual(marked(2, text('So [1][2]')), [`<span {}>So ${first}${second}`]);
    assert.deepEqual(marked(2, text('So [1, 2]')), [`<span {}>So ${first}${second}`]);
  });

  test('keeps its place among others', () => {
    assert.deepEqual(marked(2, text('So [1] and so [2].')), [
      `<span {}>So ${first}`,
      ' and ',
      `<span {}>so ${second}.`,
    ]);
  });

  test('of an unknown source stays text', () => {
    assert.deepEqual(marked(1, text('So [2] and [0] and [1; 7]')), ['So [2] and [0] and [1; 7]']);
    assert.deepEqual(marked(0, text('So [1]')), ['So [1]']);
  });

  test('is not an array index, code or a link', () => {
    assert.deepEqual(marked(1, text('list[1]')), ['list[1]']);
    assert.deepEqual(marked(1, element('code', {}, text('[1]'))), ['<code {}>[1]']);
    assert.deepEqual(marked(1, element('a', { href: 'x' }, text('[1]'))), ['<a {"href":"x"}>[1]']);
  });

  test('is found in emphasis, too', () => {
    assert.deepEqual(marked(1, element('strong', {}, text('yes [1]'))), [`<strong {}><span {}>yes ${first}`]);
  });
});

describe('a reply', () => {
  test('loads no image: it becomes a link to it, or its alternative text inside a link', () => {
    const image = element('img', { src: 'https://elsewhere.example/a.png', alt: 'A chart' });
    assert.deepEqual(marked(0, image), ['<a {"href":"https://elsewhere.example/a.png"}>Image: A chart']);
    assert.deepEqual(marked(0, element('a', { href: 'x' }, image)), ['<a {"href":"x"}>Image: A chart']);
  });

  test('has its headings below those of the page, and skips no level', () => {
    const names = ['h2', 'h4', 'h2'].map((name) => element(name, {}));
    assert.deepEqual(
      marked(0, ...names).map((html) => html.slice(1, 3)),
      ['h3', 'h4', 'h3'],
    );
  });

  test('sets no element ids', () => {
    assert.deepEqual(marked(0, element('em', { id: 'root', className: ['x'] })), [
      '<em {"className":["x"]}>',
    ]);
  });

  test('breaks lines at <br>, and shows other HTML as text', () => {
    assert.deepEqual(marked(0, { type: 'raw', value: '<br/>' }), ['<br {}>']);
    assert.deepEqual(marked(0, { type: 'raw', value: '<script>' }), ['<script>']);
  });
});
