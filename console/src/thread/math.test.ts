import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hideFormulas, showFormulas } from './math.ts';

function shownAgain(text: string): string {
  const node = { type: 'text', value: hideFormulas(text) };
  showFormulas()(node);
  return node.value;
}

describe('a formula', () => {
  const formulas = [
    'Let $a_1 * b_1 = c_1$ and $x^2$.',
    'So \\(a_i * b_i\\) holds.',
    '$$\n- x_1\n+ y_1\n$$',
    '\\[ \\sum_{i=1}^n *a_i* \\]',
  ];

  test('hides its syntax from Markdown, keeps its length, and is shown unchanged', () => {
    for (const text of formulas) {
      const hidden = hideFormulas(text);
      assert.doesNotMatch(hidden, /[_*\\]/, text);
      assert.equal(hidden.length, text.length);
      assert.equal(shownAgain(text), text);
    }
  });

  test('is not an amount of money or other text', () => {
    for (const text of [
      'It costs $5 to $10 for *all* of it, or $20.',
      'Set *HOME* to $HOME and _run_ $PATH.',
      'A **bold** word and `code_with_underscores`.',
      'Use `$a_1`, `b_1$` and `$c_1`$.',
      `${'$'.repeat(5_000)}`,
      `${'$a '.repeat(20_000)}`,
      `${'\\('.repeat(20_000)}`,
    ])
      assert.equal(shownAgain(text), text);
    assert.match(hideFormulas('Use `$a_1`, `b_1$` and `$c_1`$.'), /^Use `\$a_1`, `b_1\$`/);
    assert.equal(
      hideFormulas('It costs $5 to $10 for *all* of it, or $20.'),
      'It costs $5 to $10 for *all* of it, or $20.',
    );
    assert.equal(
      hideFormulas('Set *HOME* to $HOME and _run_ $PATH.'),
      'Set *HOME* to $HOME and _run_ $PATH.',
    );
  });
});
