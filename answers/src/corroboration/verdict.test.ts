import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeVerdict } from './verdict.ts';

describe('The words for a verdict', () => {
  const words = (statements: number, found: number, sources: number) =>
    describeVerdict({ statements, found }, sources);

  it('count statements and sources', () => {
    assert.equal(words(9, 7, 2), '7 of 9 statements found in 2 sources');
    assert.equal(words(2, 1, 1), '1 of 2 statements found in 1 source');
    assert.equal(words(3, 3, 1), 'All 3 statements found in 1 source');
    assert.equal(words(3, 0, 0), 'None of 3 statements found in the documents');
    assert.equal(words(1, 1, 2), 'The statement was found in 2 sources');
    assert.equal(words(1, 0, 0), 'The statement was not found in the documents');
  });
});
