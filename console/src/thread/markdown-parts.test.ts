import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formattedIfPossible, headingLevels, isTooComplex, markdownParts } from './markdown-parts.ts';

const paragraph = 'Merino is a fine, soft wool that can be worn against the skin. '.repeat(20);

function repeated(block: string, times = 12): string {
  return Array.from({ length: times }, () => block).join('\n\n');
}

describe('a long text in parts', () => {
  test('is the same text', () => {
    const text = repeated(`${paragraph}\n\n- one\n\n- two\n\n## More`);
    const parts = markdownParts(text);
    assert.ok(parts.length > 3);
    assert.equal(parts.join(''), text);
  });

  test('keeps its finished parts while it grows', () => {
    const text = repeated(paragraph);
    const whole = markdownParts(text);
    assert.ok(whole.length > 3);
    for (let length = 4_100; length < text.length; length += 97) {
      const settled = markdownParts(text.slice(0, length)).slice(0, -1);
      assert.deepEqual(settled, whole.slice(0, settled.length));
    }
  });

  test('is not split if it is short', () => {
    assert.deepEqual(markdownParts('One.\n\nTwo.'), ['One.\n\nTwo.']);
  });

  for (const [what, block] of [
    ['a list', '- one\n\n  more of it\n\n- two'],
    ['a numbered list', '1. one\n\n2. two'],
    ['a table', '| a | b |\n|---|---|\n| 1 | 2 |'],
    ['code', '```\none\n\ntwo\n```'],
    ['a quotation', '> one\n\n> two'],
  ] as const) {
    test(`never starts a part within ${what}`, () => {
      for (const lineEnd of ['\n', '\r\n', '\r']) {
        const text = repeated(`${paragraph}\n\n${block}`).replaceAll('\n', lineEnd);
        const parts = markdownParts(text);
        assert.ok(parts.length > 3);
        assert.equal(parts.join(''), text);
        for (const part of parts) assert.match(part, /^Merino/);
      }
    });
  }

  test('is not split if it has reference links', () => {
    const text = `${repeated(paragraph)}\n\n[policy]: https://skein.example`;
    assert.deepEqual(markdownParts(text), [text]);
  });
});

test('heading levels ignore headings in code', () => {
  assert.equal(headingLevels('### a\n\n# b\n\n```\n## c\n```\n\n~~~\n```\n#### d\n~~~\n### e'), '13');
  assert.equal(headingLevels('#none'), '');
});

test('Inline code in three backticks starts no block of code', () => {
  assert.equal(headingLevels('```a``` is code\n\n## Next'), '2');
  assert.equal(headingLevels('```a\n## Code\n```b```\n## Code\n```\n# Next'), '1');
});

test('A line of very many backticks is read in linear time', () => {
  const startedAt = performance.now();
  assert.equal(headingLevels(`# a\n${'`'.repeat(200_000)} \`\n## b`), '12');
  assert.ok(performance.now() - startedAt < 5_000);
});

describe('A text that is too complex to be formatted', () => {
  test('opens many quotations, lists or emphases at once', () => {
    for (const mark of ['>', '> ', '1. ', '+ ', '> - '])
      for (const last of ['last', '```'])
        assert.equal(isTooComplex(`First\n${mark.repeat(60)}${last}`), true, mark);
    assert.equal(isTooComplex(`${'*'.repeat(200)}bold${'*'.repeat(200)}`), true);
  });

  test('opens a list within each item of the list before it', () => {
    const nested = (levels: number) =>
      Array.from({ length: levels }, (_, level) => `${'  '.repeat(level)}- item`).join('\n');
    assert.equal(isTooComplex(nested(60)), true);
    assert.equal(isTooComplex(nested(12)), false);
    assert.equal(isTooComplex(nested(60).replaceAll(/^/gm, '> ')), true);
    assert.equal(isTooComplex(`\`\`\`\n${nested(60)}\n\`\`\``), false);
  });

  test('has very many marks of emphases or links in one paragraph', () => {
    for (const [opening, closing] of [
      ['*a ', 'b* '],
      ['_a\n', 'b_\n'],
      ['~~a ', 'b~~ '],
      ['| *a\n', '| b*\n'],
      ['![', ''],
    ] as const)
      assert.equal(isTooComplex(opening.repeat(2_000) + closing.repeat(2_000)), true, opening);
  });

  test('ends its lines with carriage returns', () => {
    assert.equal(isTooComplex(`First\r${'1. '.repeat(60)}last`), true);
    assert.equal(isTooComplex('Title\r===\r'.repeat(2_100)), true);
    assert.equal(isTooComplex(`\`\`\`\r\n${'Title\r\n===\r\n'.repeat(2_100)}\`\`\``), false);
  });

  test('has a table with very many columns', () => {
    assert.equal(isTooComplex(`|${'a|'.repeat(120)}\n|${' :-- |'.repeat(120)}\n|a|`), true);
  });

  test('has very many lines that each take time to parse', () => {
    for (const line of ['Title\n=\n', '- a\n  - b\n', '| a | b |\n'])
      assert.equal(isTooComplex(line.repeat(2_100)), true, line);
    assert.equal(isTooComplex(`\`\`\`\n${'Title\n=\n'.repeat(2_100)}\`\`\``), false);
  });

  test('is not one with rules, tables, long lists or usual quotations', () => {
    const rules = ['-', '*', '_', '=', '~'].map((mark) => mark.repeat(300)).join('\n\n');
    const table = `|${' a |'.repeat(60)}\n|${'---|'.repeat(60)}`;
    const list = '1. **Bold** *words*\n'.repeat(500);
    const cells = '| **Bold** | `snake_case_name` |\n'.repeat(500);
    const paragraphs = `${'*a* [b](c) '.repeat(100)}\n\n`.repeat(20);
    for (const text of [rules, table, list, cells, paragraphs, '> > > quoted', '**Bold** and '.repeat(300)])
      assert.equal(isTooComplex(text), false, text.slice(0, 40));
  });

  test('is not one whose marks are in a block of code', () => {
    const banner = `/${'*'.repeat(250)}/`;
    const pointers = 'char *name;\n'.repeat(2_000);
    assert.equal(isTooComplex(`Text\n\n\`\`\`c\n${banner}\n${pointers}\`\`\`\nMore`), false);
    assert.equal(isTooComplex(`\`\`\`c\n\`\`\`\n${banner}`), true);
  });

  test('continues below a block of code that a quotation ends', () => {
    for (const start of ['- ```', '1. ```js', '    ```'])
      for (const mark of ['>', '> '])
        assert.equal(isTooComplex(`${start}\n${mark.repeat(60)}last`), true, start);
  });

  test('is not one whose marks are in a block of code within a list or quotation', () => {
    const banner = `/${'*'.repeat(250)}/`;
    for (const [first, next] of [
      ['> ', '> '],
      ['> ', '>'],
      ['- ', '  '],
      ['10. ', '    '],
      ['> 1. ', '>    '],
      ['- > ', '  > '],
      ['    ', '    '],
    ] as const) {
      const code = `${first}\`\`\`c\n${next}${banner}\n${next}\n`;
      assert.equal(isTooComplex(`Text\n\n${code}${next}${banner}\n${next}\`\`\``), false, first);
      assert.equal(isTooComplex(`${code}${next}\`\`\`\n${banner}`), true, `${first}closed`);
      assert.equal(isTooComplex(`${code}${banner}`), true, `${first}ended`);
    }
  });

  test('is not one whose block of code only looks like the end of a list or quotation', () => {
    const pointers = 'char *name;\n'.repeat(2_000);
    assert.equal(isTooComplex(`\`\`\`c\n> quoted\n- \`\`\` \n${pointers}\`\`\``), false);
  });
});

describe('A text is shown as plain text', () => {
  test('if the parser uses up the stack', () => {
    const deeper = (): string => `${deeper()}.`;
    assert.equal(formattedIfPossible('Text', deeper), undefined);
    assert.equal(
      formattedIfPossible('Text', () => 'formatted'),
      'formatted',
    );
  });

  test('without parsing it if it is nested too deeply', () => {
    let parsed = false;
    const parse = () => {
      parsed = true;
    };
    formattedIfPossible('Text', parse);
    assert.equal(parsed, true);
    parsed = false;
    assert.equal(formattedIfPossible('>'.repeat(60), parse), undefined);
    assert.equal(parsed, false);
  });
});
