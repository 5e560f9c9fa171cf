import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closeOpenMarks } from './growing-text.ts';

for (const [what, text, shown] of [
  ['plain text is unchanged', 'Refunds take thirty days.', 'Refunds take thirty days.'],
  ['strong words are closed', 'It is **very imp', 'It is **very imp**'],
  ['a mark without words is left out', 'It is **', 'It is '],
  ['closed marks stay', 'It is **so** and', 'It is **so** and'],
  ['a half-closed mark is completed', 'It is **so*', 'It is **so**'],
  ['code is closed', 'Call `rename', 'Call `rename`'],
  ['marks in code are ignored', 'Call `a ** b` and', 'Call `a ** b` and'],
  ['a link is left out until it is complete', 'See [the pol', 'See '],
  ['a URL is never shown in part', 'See [the policy](https://skein.ex', 'See '],
  ['a complete link stays', 'See [it](https://skein.example) now', 'See [it](https://skein.example) now'],
  ['a citation stays', 'Thirty days [1]', 'Thirty days [1]'],
  ['a citation is left out until it is complete', 'Thirty days [1', 'Thirty days '],
  ['a bullet does not turn the line above into a heading', 'There are:\n-', 'There are:\n'],
  ['a list number is not shown before its text', 'There are:\n\n1.', 'There are:\n\n'],
  ['a list stays', 'There are:\n\n- one\n- two', 'There are:\n\n- one\n- two'],
  ['a fence is left out until it is complete', 'Run:\n\n``', 'Run:\n\n'],
  ['code in a fence is unchanged', '```ts\nconst a = `x', '```ts\nconst a = `x'],
  ['marks after a fence are closed again', '```\na\n```\n\nIt is **so', '```\na\n```\n\nIt is **so**'],
  ['a table waits for its second line', 'Prices:\n\n| a | b |\n| -', 'Prices:\n\n'],
  ['a table is shown with its second line', '| a | b |\n|---|---|', '| a | b |\n|---|---|'],
] as const) {
  test(`while a reply is being written, ${what}`, () => {
    for (const lineEnd of ['\n', '\r\n', '\r'])
      assert.equal(closeOpenMarks(text.replaceAll('\n', lineEnd)), shown);
  });
}

test('while a reply is being written, brackets are read once, however many there are', () => {
  // Reading the rest of the line again for every bracket would take hours.
  const repeated = (mark: string) => mark.repeat(1_000_000);
  for (const text of [`${repeated('[')}\nx`, `${repeated('![')}]x`, `${repeated('[](')})x`])
    assert.ok(closeOpenMarks(text) === text);
});
