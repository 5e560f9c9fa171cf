import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from './problem-text.ts';

test('has a sentence for every problem, and one for unknown problems', () => {
  assert.match(problemText('expired'), /timed out/);
  assert.match(problemText('session-ended'), /session has ended/);
  for (const problem of ['', 'else', '__proto__', 'constructor', 'toString']) {
    assert.equal(problemText(problem), problemText('failed'), problem);
  }
});
