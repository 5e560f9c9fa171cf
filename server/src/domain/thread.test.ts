import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { titleFromPrompt } from './thread.ts';

describe('A generated title', () => {
  it('is the first line of the prompt that has text', () => {
    assert.equal(titleFromPrompt('  Refunds?  \nSecond line'), 'Refunds?');
    assert.equal(titleFromPrompt('\n \r\n\tRefunds?\r\nmore'), 'Refunds?');
    assert.equal(titleFromPrompt('a\u2028b'), 'a');
  });

  it('skips a line that opens or closes a block of code', () => {
    for (const prompt of [
      '```ts\nconst a = 1;\n```\nWhy?',
      '``` ts title="a.ts"\n\n  const a = 1;',
      '~~~\nconst a = 1;\n~~~',
      '````\r\n```\r\nconst a = 1;',
      '\u200b\n  ```\u2028const a = 1;',
      '```\n```\nconst a = 1;',
    ]) {
      assert.equal(titleFromPrompt(prompt), 'const a = 1;', JSON.stringify(prompt));
    }
  });

  it('has no quote marks at its start', () => {
    for (const prompt of [
      '> Returns take 30 days.\nReally?',
      '>Returns take 30 days.',
      '> > Returns take 30 days.',
      '>\n> Returns take 30 days.',
      '\u200b>\u200b> Returns take 30 days.',
      '> ```text\n> Returns take 30 days.\n> ```',
    ]) {
      assert.equal(titleFromPrompt(prompt), 'Returns take 30 days.', JSON.stringify(prompt));
    }
  });

  it('keeps other marks, and quote marks and fences within the line', () => {
    for (const prompt of [
      '# Returns',
      '- Returns',
      '#42 fails',
      '`npm ci` fails',
      '```npm ci``` fails',
      '~~~ wow ~~~',
      'a > b ```',
      '``',
      '"Returns"',
    ]) {
      assert.equal(titleFromPrompt(prompt), prompt);
    }
  });

  it('falls back to a default when the prompt has nothing but fences and quote marks', () => {
    for (const prompt of ['```', '```ts\n```', '~~~\n\n', '>', '> >\n>', '> ```\n> ```'])
      assert.equal(titleFromPrompt(prompt), 'New thread', JSON.stringify(prompt));
  });

  it('falls back to a default when the prompt has no text', () => {
    for (const prompt of [' ', '\n', ' \t\r\n\u2003']) assert.equal(titleFromPrompt(prompt), 'New thread');
  });

  it('is cut at a word within 80 graphemes, and ends with an ellipsis if it was cut', () => {
    const words = 'word '.repeat(40);
    assert.equal(titleFromPrompt(words), `${'word '.repeat(16).trimEnd()}…`);
    assert.equal(titleFromPrompt(`${'a'.repeat(78)} bcd`), `${'a'.repeat(78)}…`);
    assert.equal(titleFromPrompt(`${'a'.repeat(80)} b`), `${'a'.repeat(80)}…`);
    assert.equal(titleFromPrompt('a'.repeat(80)), 'a'.repeat(80));
  });

  it('never cuts within a grapheme', () => {
    const family = '👩‍👩‍👧‍👦';
    assert.equal(titleFromPrompt(family.repeat(100)), `${family.repeat(45)}…`);
    assert.equal(titleFromPrompt('e\u0301'.repeat(100)), `${'e\u0301'.repeat(80)}…`);
  });

  it('stays short even if one grapheme is very long', () => {
    assert.equal(titleFromPrompt(`a${'\u0301'.repeat(100_000)}`), 'New thread');
    assert.ok(titleFromPrompt(`Hello a${'\u0301'.repeat(100_000)}`).length <= 500);
    const longest = `a${'\u0301'.repeat(249)}b${'\u0301'.repeat(249)}`;
    assert.equal(titleFromPrompt(longest), longest);
    assert.equal(titleFromPrompt(`${longest}c`).length, 251);
  });

  it('has no control or invisible characters', () => {
    for (const [prompt, title] of [
      ['a\u200bb\u2060c\ufeffd', 'abcd'],
      ['\u202eevil\u202c \u2066text\u2069', 'evil text'],
      ['tab\tbell\u0007 next\u0085line', 'tab bell next line'],
      ['soft\u00adhyphen \u3164filler\u{e0041} \u{10ffff}unassigned', 'softhyphen filler unassigned'],
      ['\u200b \n\u2800\u200d\nSecond\u200e line', 'Second line'],
      [`${'\u200b'.repeat(90_000)}Refunds?`, 'Refunds?'],
      [`a${'\u200b'.repeat(598)}🧶`, 'a'],
    ] as const) {
      assert.equal(titleFromPrompt(prompt), title, JSON.stringify(prompt.slice(0, 100)));
    }
  });

  it('keeps an emoji of several code points whole', () => {
    for (const emoji of ['👩‍👩‍👧‍👦', '❤️‍🔥', '👨🏽‍💻', '☎️'])
      assert.equal(titleFromPrompt(`x ${emoji}`), `x ${emoji}`);
    assert.equal(titleFromPrompt('a\u200db \ufe0f👩\u200d c'), 'ab 👩 c');
  });

  it('falls back to a default when the prompt has no visible character', () => {
    for (const prompt of [
      '\u200b',
      '\u0007\u001b',
      '\u3164\u2800\u00ad',
      '\u{e0001}\u{10ffff}',
      '\ufe0f\u200d\n\u202e',
    ]) {
      assert.equal(titleFromPrompt(prompt), 'New thread', JSON.stringify(prompt));
    }
  });

  it('skips a limited number of fences and quote marks', () => {
    assert.equal(titleFromPrompt(`${'~~~\n'.repeat(1000)}Refunds?`), 'Refunds?');
    assert.equal(titleFromPrompt(`${'~~~\n'.repeat(1001)}Refunds?`), '~~~');
  });

  it('is the same every time', () => {
    assert.equal(titleFromPrompt('Why not?'), titleFromPrompt('Why not?'));
  });
});
