import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { FoundPassage } from '../../port/documents.ts';
import type { SearchFindings } from '../../retrieval/search.ts';
import { compareUnits, quoteAround, render } from './quote.ts';

it('a long sentence counts as repeated if an earlier reply quoted its beginning', () => {
  const text = `Felting is an old craft${', by hand in warm water with soap'.repeat(14)}. Hats need a block.`;
  const passage: FoundPassage = {
    documentId: 'doc_1',
    name: 'felt.md',
    title: 'Felt',
    url: null,
    heading: '',
    text,
  };
  const findings: SearchFindings = {
    searched: 1,
    passages: [passage],
    concepts: [],
    countExpected: undefined,
    ranked: [],
  };
  for (const [wordsBefore, wordsNow] of [
    [84, 84],
    [44, 84],
    [84, 28],
  ] as const) {
    const earlier = render(quoteAround(passage, 0, wordsBefore), 1);
    assert.match(earlier, /^\*\*Felting is an old craft.* …\*\* \[1\]$/);
    const isRepeated = compareUnits(findings, passage, wordsNow, earlier).map((unit) => unit.isRepeated);
    assert.deepEqual(isRepeated, [true, false], `${wordsBefore} words before, ${wordsNow} now`);
  }
});
