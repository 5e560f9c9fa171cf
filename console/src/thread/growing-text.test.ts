import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closeOpenMarks } from './growing-text.ts';

for (const [what, text, shown] of [
  ['plain text stays as it is', 'Refunds take thirty days.', 'Refunds take thirty days.'],
  ['strong words are closed', 'It is **very imp', 'It is **very imp**'],
  ['a mark without words is left out', 'It is **', 'It is '],
  ['closed marks stay', 'It is **so** and', 'It is **so** and'],
  ['a mark that is half closed is whole', 'It is **so*', 'It is **so**'],
  ['code is closed', 'Call `rename', 'Call `rename`'],
  ['marks in code are none', 'Call `a ** b` and', 'Call `a ** b` and'],
  ['a link is left out until it is whole', 'See [the pol', 'See '],
  ['an address is never shown in part', 'See [the policy](https://skein.ex', 'See '],
  ['a whole link stays', 'See [it](https://skein.example) now', 'See [it](https://skein.example) now'],
  ['a citation stays', 'Thirty days [1]', 'Thirty days [1]'],
  ['a citation is left out until it is whole', 'Thirty days [1', 'Thirty days '],
  ['a bullet does not make a heading of the line above', 'There are:\n-', 'There are:\n'],
  ['a numeral does not show before its line', 'There are:\n\n1.', 'There are:\n\n'],
  ['a list stays', 'There are:\n\n- one\n- two', 'There are:\n\n- one\n- two'],
  ['a fence is left out until it is whole', 'Run:\n\n``', 'Run:\n\n'],
  ['code in a fence stays as it is', '```ts\nconst a = `x', '```ts\nconst a = `x'],
  ['text after a fence is closed again', '```\na\n```\n\nIt is **so', '```\na\n```\n\nIt is **so**'],
  ['a table waits for its second line', 'Prices:\n\n| a | b |\n| -', 'Prices:\n\n'],
  ['a table is shown with its second line', '| a | b |\n|---|---|', '| a | b |\n|---|---|'],
] as const) {
  test(`while a reply is being written, ${what}`, () => {
    assert.equal(closeOpenMarks(text), shown);
  });
}
