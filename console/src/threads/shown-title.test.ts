import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownTitle } from './shown-title.ts';

test('shows a title as it is if it has a visible character', () => {
  // The last two: an unassigned character, which a newer Unicode may define, and one for private use.
  for (const title of ['Refunds', ' . ', 'العربية', '👩‍🚀', '\u200Ba', '\u0378', '\uF8FF'])
    assert.equal(shownTitle(title), title);
});

test('leaves out characters that would reverse the text after the title', () => {
  assert.equal(shownTitle('\u202Efdp.ecalp\u202C and \u2067more\u2069'), 'fdp.ecalp and more');
});

test('shows a title without a visible character as Untitled', () => {
  for (const title of ['', ' ', '\u200B', '\u202E\u2066', '\u3164', '\u2800', '\u0007'])
    assert.equal(shownTitle(title), 'Untitled', JSON.stringify(title));
});
