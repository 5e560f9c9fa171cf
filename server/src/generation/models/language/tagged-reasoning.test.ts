import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TaggedReasoning } from './tagged-reasoning.ts';

/** The reasoning, with `.` after its end, and the text. */
function split(pieces: readonly string[]): [string, string] {
  const tagged = new TaggedReasoning();
  let reasoning = '';
  let text = '';
  for (const part of [...pieces.flatMap((piece) => [...tagged.take(piece)]), ...tagged.end()]) {
    if (part.type === 'text') text += part.text;
    else reasoning += part.type === 'reasoning' ? part.text : '.';
  }
  return [reasoning, text];
}

describe('reasoning between tags', () => {
  const cases: [string, string, string][] = [
    ['<think>First. 2 < 3</think>Yes.', 'First. 2 < 3.', 'Yes.'],
    ['\n <think></think>Yes.', '.', 'Yes.'],
    ['<think>It does not end</thin', 'It does not end</thin.', ''],
    ['Yes. <think>No</think>', '', 'Yes. <think>No</think>'],
    ['  <thing>', '', '  <thing>'],
    ['<th', '', '<th'],
    [`${' '.repeat(100)}<think>`, '', `${' '.repeat(100)}<think>`],
    ['', '', ''],
  ];
  for (const [whole, reasoning, text] of cases) {
    it(`is found in any pieces of ${JSON.stringify(whole.trim())}`, () => {
      for (const length of [1, 2, 3, 7, 8, 1000]) {
        const pieces = whole.match(new RegExp(`[^]{1,${length}}`, 'g')) ?? [];
        assert.deepEqual(split(pieces), [reasoning, text], `${length} characters at a time`);
      }
    });
  }
});
