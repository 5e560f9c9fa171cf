import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { titleMatcher } from './text.ts';

function assertFinds(search: string, ...titles: string[]): void {
  for (const title of titles) assert.ok(titleMatcher(search)(title), `${search} finds ${title}`);
}

function assertMisses(search: string, ...titles: string[]): void {
  for (const title of titles) assert.ok(!titleMatcher(search)(title), `${search} misses ${title}`);
}

describe('A search in titles', () => {
  it('ignores case, accents and compatibility forms, in the search and in the title', () => {
    assertFinds('resume', 'Résumé of Ada', 'RE\u0301SUME\u0301');
    assertFinds('RÉSUMÉ', 'resume');
    assertFinds('strasse', 'Die Straße');
    assertFinds('ΟΔΟΣ', 'η οδος');
    assertFinds('1/2 file', 'A ﬁle of ½'.replace('½', '1/2'), 'ﬁle 1/2');
    assertFinds('istanbul', 'İstanbul');
    assertFinds('ガラス', 'ｶﾞﾗｽ');
  });

  it('requires every word, anywhere and in any order', () => {
    assertFinds('policy ref', 'Refund policy', 'Policy: prefer silk');
    assertMisses('refund silk', 'Refund policy', 'Silk');
    assertFinds('  ', 'Anything');
  });

  it('treats the search as plain text, not as a pattern', () => {
    assertFinds('50%', '50% off');
    assertMisses('a.c', 'abc');
    assertMisses('%', 'abc');
  });
});
