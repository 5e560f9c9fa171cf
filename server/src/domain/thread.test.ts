import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { titleFromPrompt } from './thread.ts';

describe('A generated title', () => {
  it('is the first line of the prompt that says anything', () => {
    assert.equal(titleFromPrompt('  Refunds?  \nSecond line'), 'Refunds?');
    assert.equal(titleFromPrompt('\n \r\n\tRefunds?\r\nmore'), 'Refunds?');
    assert.equal(titleFromPrompt('a\u2028b'), 'a');
  });

  it('falls back when the prompt says nothing', () => {
    for (const prompt of [' ', '\n', ' \t\r\n\u2003']) assert.equal(titleFromPrompt(prompt), 'New thread');
  });

  it('is cut at a word within 80 graphemes', () => {
    const words = 'word '.repeat(40);
    assert.equal(titleFromPrompt(words), 'word '.repeat(16).trimEnd());
    assert.equal(titleFromPrompt(`${'a'.repeat(78)} bcd`), 'a'.repeat(78));
    assert.equal(titleFromPrompt(`${'a'.repeat(80)} b`), 'a'.repeat(80));
    assert.equal(titleFromPrompt('a'.repeat(80)), 'a'.repeat(80));
  });

  it('never cuts through what a reader sees as one character', () => {
    const family = '👩‍👩‍👧‍👦';
    assert.equal(titleFromPrompt(family.repeat(100)), family.repeat(45));
    assert.equal(titleFromPrompt('e\u0301'.repeat(100)), 'e\u0301'.repeat(80));
  });

  it('stays short although one character may be endless', () => {
    assert.equal(titleFromPrompt(`a${'\u0301'.repeat(100_000)}`), 'New thread');
    assert.ok(titleFromPrompt(`Hello a${'\u0301'.repeat(100_000)}`).length <= 500);
  });

  it('is the same every time', () => {
    assert.equal(titleFromPrompt('Why not?'), titleFromPrompt('Why not?'));
  });
});
