import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asksNothing } from './small-talk.ts';

const isQuestion = (prompt: string) => assert.equal(asksNothing(prompt), false, prompt);
const isNoQuestion = (prompt: string) => assert.equal(asksNothing(prompt), true, prompt);

test('a prompt without a topic asks something if a question mark follows a letter', () => {
  for (const prompt of ['How?', '? How ?', 'Why not?! And']) isQuestion(prompt);
  for (const prompt of ['Tell me more', '?', '?? and', '', 'Hello']) isNoQuestion(prompt);
});

test('a question about the model itself asks nothing about the documents', () => {
  for (const prompt of ['Who are you?', 'What do you do?', 'What can you help me with?'])
    isNoQuestion(prompt);
  for (const prompt of ['What do you do about lost parcels?', 'What can you do with a hank?'])
    isQuestion(prompt);
});

test('a long prompt is read once', () => {
  // Reading the rest again for every letter would take hours.
  const prompt = 'the '.repeat(1_000_000);
  assert.equal(asksNothing(prompt), true);
  assert.equal(asksNothing(`${prompt}?`), false);
});
