import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sentencesOf } from './sentences.ts';

function splits(name: string, sentences: string[], between = ' '): void {
  it(name, () => assert.deepEqual(sentencesOf(sentences.join(between)), sentences));
}

describe('the sentences of a text', () => {
  splits('end at a full stop, a question mark and an exclamation mark', [
    'One here.',
    'Two?',
    'Three!',
    'Four',
  ]);
  splits('hold short forms', [
    'Dr. Smith and Mrs. Jones met, e.g. Tuesdays, i.e. Not Mondays.',
    'See Fig. 3 vs. Table 2, No. 5, approx. 10 items etc. and so on.',
    'Bring pens, paper, etc.',
    'Then begin at 5 p.m.',
    'Everyone came.',
  ]);
  splits('tell a short form from a word', ['May I?', 'No.', 'You may not.', 'That was sec. 4 of it.']);
  splits('hold initials and names of firms', [
    'J. R. Hartley wrote to Acme Inc. Limited in the U.S. Senate.',
    'Take plan B.',
    'The rest is for Acme Inc.',
    'It pays.',
    'It was I.',
    'Nobody else knew.',
  ]);
  splits('hold decimals, versions, addresses and names of files', [
    'It costs 3.50 or .5 with v1.2.3.',
    'Open https://example.com/a.b?c=d!e and config.yaml, or .env.',
    'Node.js reads index.html.',
    'Write to a.b@example.com.',
    '2024 was better than 2023.',
    '10.5 is more.',
  ]);
  splits(
    'hold ellipses that go on, and end at those that do not',
    ['Well... perhaps… not.', 'Wait...', 'Now… ', 'Go.'].map((s) => s.trim()),
  );
  splits('end behind quotes and brackets', [
    'He said “Stop.”',
    '"Really?" he asked.',
    '(It was late.)',
    "They said 'no.'",
    '**Bold.**',
    'Last [one.]',
  ]);
  splits('keep the marks that cite them', [
    'Returns take 30 days. [1]',
    'Fees apply.[2][3]',
    'No more [4].',
    'End.',
  ]);
  splits(
    'need no space in Chinese and Japanese',
    ['这是第一句。', '「二つ目ですか？」', '三つ目！', 'End'],
    '',
  );
  splits('go on where a small letter follows', ['Use Yahoo! for mail.', 'Ask “why?” and wait.']);
  splits(
    'hold the number of a list line',
    ['1. Open the lid.', '2. Close it.', 'It was number 2.', 'Then 3.'],
    '\n',
  );

  it('are the lines of a list, without their markers', () => {
    assert.deepEqual(sentencesOf('You need:\n- a pen. And ink\n  - paper\n* glue\nThen write\nit down.'), [
      'You need:',
      'a pen. And ink',
      'paper',
      'glue',
      'Then write it down.',
    ]);
  });

  it('end at an empty line, and only there where lines are wrapped', () => {
    assert.deepEqual(sentencesOf('A title\n\nwrapped\r\nlines  go\ton\n \nlast'), [
      'A title',
      'wrapped lines go on',
      'last',
    ]);
  });

  it('are none where there is no text', () => {
    assert.deepEqual(sentencesOf(' \n\n\t\n- \n'), []);
  });

  it('lose no character but whitespace and markers', () => {
    const text = 'A.B. C! "D" (E.) … f?! G.[1] [2] 。。 H。”I. 1. J. e.g. K';
    assert.equal(sentencesOf(text).join('').replace(/\s/g, ''), text.replace(/\s/g, ''));
  });

  const megabyte = 1_000_000;
  const hostile: Record<string, string> = {
    'full stops': '.',
    'full stops with spaces': '. ',
    'short forms': 'e.g. ',
    initials: 'A. ',
    'letters and stops': 'a.',
    spaces: ' ',
    'stops before spaces': '.         ',
    'empty lines': '\n',
    'list markers': '- ',
    'list lines': '- a\n',
    quotes: '"',
    'stops and quotes': '."',
    brackets: '.[1]',
    'open brackets': '. [',
    digits: '1',
    'numbered lines': '1. ',
    'ideographic stops': '。',
    surrogates: '\ud83d',
    'carriage returns': '\r',
    letters: 'x',
  };
  for (const [name, piece] of Object.entries(hostile)) {
    it(`are found promptly in a megabyte of ${name}`, () => {
      const text = piece.repeat(megabyte / piece.length);
      const startedAt = performance.now();
      const sentences = sentencesOf(`${text}\n\nThe end.`);
      assert.equal(sentences.at(-1), 'The end.');
      assert.ok(performance.now() - startedAt < 5_000);
    });
  }
});
