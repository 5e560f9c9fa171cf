import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import Markdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { type HtmlNode, markReply } from './reply-marks.ts';
import { markUnsupported } from './unsupported.ts';

/** The HTML of a reply in which these statements were not found. `?` stands for the button. */
function drawn(source: string, ...statements: string[]): string {
  const spans = statements.map((statement) => {
    const start = source.indexOf(statement);
    assert.ok(start >= 0, statement);
    return { start, end: start + statement.length };
  });
  const rehypePlugins = [
    [markUnsupported, { source, spans }],
    [markReply, { sourceCount: 1, headings: '' }],
  ] as never;
  const html = renderToStaticMarkup(
    createElement(Markdown, { remarkPlugins: [remarkGfm], rehypePlugins }, source),
  );
  return html.replaceAll('<button data-unsupported=""></button>', '?').replaceAll('\n', '');
}

describe('a statement that was not found', () => {
  test('is marked, with a button behind it, and its neighbors are not', () => {
    assert.equal(drawn('One. Two. Three.', 'Two.'), '<p>One. <mark>Two.</mark>? Three.</p>');
    assert.equal(
      drawn('One. Two. Three.', 'One.', 'Three.'),
      '<p><mark>One.</mark>? Two. <mark>Three.</mark>?</p>',
    );
  });

  test('has one button, however many elements it spans', () => {
    assert.equal(
      drawn('So **it is not so** at *all*. But.', 'So **it is not so** at *all*.'),
      '<p><mark>So </mark><strong><mark>it is not so</mark></strong><mark> at </mark><em><mark>all</mark></em><mark>.</mark>? But.</p>',
    );
  });

  test('has its button outside links and inline code', () => {
    assert.equal(
      drawn('See [the page](https://a.example)', 'See [the page](https://a.example)'),
      '<p><mark>See </mark><a href="https://a.example"><mark>the page</mark></a>?</p>',
    );
    assert.equal(
      drawn('Run `rm -r`', 'Run `rm -r`'),
      '<p><mark>Run </mark><code><mark>rm -r</mark></code>?</p>',
    );
    assert.equal(
      drawn('[a `b`](https://a.example)', '[a `b`](https://a.example)'),
      '<p><a href="https://a.example"><mark>a </mark><code><mark>b</mark></code></a>?</p>',
    );
  });

  test('is marked in lists, quotations and over several lines', () => {
    assert.equal(
      drawn('- One\n- Two\n  - Three', 'Two'),
      '<ul><li>One</li><li><mark>Two</mark>?<ul><li>Three</li></ul></li></ul>',
    );
    assert.equal(
      drawn('> One. Two\n> goes on. Three.', 'Two\n> goes on.'),
      '<blockquote><p>One. <mark>Twogoes on.</mark>? Three.</p></blockquote>',
    );
  });

  test('is marked in every cell of its row, and has one button in the last', () => {
    const table = '| A | B |\n|---|---|\n| one | two |\n| three | four |  |';
    assert.match(
      drawn(table, '| one | two |'),
      /<td><mark>one<\/mark><\/td><td><mark>two<\/mark>\?<\/td><\/tr><tr><td>three<\/td>/,
    );
    assert.match(
      drawn(table, '| three | four |  |'),
      /<td><mark>three<\/mark><\/td><td><mark>four<\/mark>\?<\/td>/,
    );
  });

  test('is found after escapes, character references and bare links', () => {
    assert.equal(
      drawn('1 \\* 2 &lt; 3 &amp; more. Two.', 'Two.'),
      '<p>1 * 2 &lt; 3 &amp; more. <mark>Two.</mark>?</p>',
    );
    assert.equal(drawn('1 \\* 2 &lt; 3. Two.', '1 \\* 2 &lt; 3.'), '<p><mark>1 * 2 &lt; 3.</mark>? Two.</p>');
    assert.match(
      drawn('Ask a@b.example now. Two. www.c.example is it.', 'Two.'),
      /now\. <mark>Two\.<\/mark>\? /,
    );
  });

  test('keeps its citations', () => {
    assert.equal(
      drawn('As [1] says, no.', 'As [1] says, no.'),
      '<p><mark><span>As <button data-citation="1">[1]</button></span> says, no.</mark>?</p>',
    );
  });

  test('is never marked in a code block', () => {
    const source = '```\nOne. Two.\n```\n\nTwo.';
    assert.doesNotMatch(drawn(source, 'Two.'), /mark/);
    assert.match(drawn('<b>x</b>\n\nTwo.', 'Two.'), /<p><mark>Two\.<\/mark>\?<\/p>$/);
  });

  test('is found in time at the end of a very long paragraph', () => {
    const statement = 'It is so. ';
    const begin = 'word '.repeat(38_000);
    const source = begin + statement.repeat(1_000);
    const text = { type: 'text', value: source };
    const tree = { type: 'root', children: [text] };
    const spans = Array.from({ length: 1_000 }, (_, at) => {
      const start = begin.length + at * statement.length;
      return { start, end: start + statement.trimEnd().length };
    });
    const startedAt = performance.now();
    markUnsupported({ source, spans })(tree);
    assert.ok(performance.now() - startedAt < 3_000);
    assert.equal(tree.children.filter((node: HtmlNode) => node.tagName === 'mark').length, 1_000);
  });

  test('is not marked if its position is unknown, and neither is anything else', () => {
    assert.equal(drawn('One. Two.'), '<p>One. Two.</p>');
  });
});
