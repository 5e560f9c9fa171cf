import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { splitSentences } from './passage-parts.ts';

function splits(name: string, sentences: string[], between = ' '): void {
  it(name, () => assert.deepEqual(splitSentences(sentences.join(between)), sentences));
}

describe('splitting a text into sentences', () => {
  splits('ends at a full stop, a question mark and an exclamation mark', [
    'One here.',
    'Two?',
    'Three!',
    'Four',
  ]);
  splits('keeps abbreviations within a sentence', [
    'Dr. Smith and Mrs. Jones met, e.g. Tuesdays, i.e. Not Mondays.',
    'See Fig. 3 vs. Table 2, No. 5, approx. 10 items etc. and so on.',
    'Bring pens, paper, etc.',
    'Then begin at 5 p.m.',
    'Everyone came.',
  ]);
  splits('tells an abbreviation from a word', ['May I?', 'No.', 'You may not.', 'That was sec. 4 of it.']);
  splits('keeps initials and company names within a sentence', [
    'J. R. Hartley wrote to Acme Inc. Limited in the U.S. Senate.',
    'Take plan B.',
    'The rest is for Acme Inc.',
    'It pays.',
    'It was I.',
    'Nobody else knew.',
  ]);
  splits('keeps decimals, versions, addresses and file names whole', [
    'It costs 3.50 or .5 with v1.2.3.',
    'Open https://example.com/a.b?c=d!e and config.yaml, or .env.',
    'Node.js reads index.html.',
    'Write to a.b@example.com.',
    '2024 was better than 2023.',
    '10.5 is more.',
  ]);
  splits(
    'ends at an ellipsis only if a new sentence follows',
    ['Well... perhaps… not.', 'Wait...', 'Now… ', 'Go.'].map((s) => s.trim()),
  );
  splits('includes closing quotes and brackets', [
    'He said “Stop.”',
    '"Really?" he asked.',
    '(It was late.)',
    "They said 'no.'",
    '**Bold.**',
    'Last [one.]',
  ]);
  splits('includes citations', ['Returns take 30 days. [1]', 'Fees apply.[2][3]', 'No more [4].', 'End.']);
  splits(
    'needs no space in Chinese and Japanese',
    ['这是第一句。', '「二つ目ですか？」', '三つ目！', 'End'],
    '',
  );
  splits('continues before a lower-case letter', ['Use Yahoo! for mail.', 'Ask “why?” and wait.']);
  splits(
    'keeps the number of a list item',
    ['1. Open the lid.', '2. Close it.', 'It was number 2.', 'Then 3.'],
    '\n',
  );

  it('takes each list item, without its bullet', () => {
    assert.deepEqual(splitSentences('You need:\n- a pen. And ink\n  - paper\n* glue\nThen write\nit down.'), [
      'You need:',
      'a pen. And ink',
      'paper',
      'glue',
      'Then write it down.',
    ]);
  });

  it('ends at an empty line, not at a line break', () => {
    assert.deepEqual(splitSentences('A title\n\nwrapped\r\nlines  go\ton\n \nlast'), [
      'A title',
      'wrapped lines go on',
      'last',
    ]);
  });

  it('finds none in an empty text', () => {
    assert.deepEqual(splitSentences(' \n\n\t\n- \n'), []);
  });

  it('loses nothing but white space and bullets', () => {
    const text = 'A.B. C! "D" (E.) … f?! G.[1] [2] 。。 H。”I. 1. J. e.g. K';
    assert.equal(splitSentences(text).join('').replace(/\s/g, ''), text.replace(/\s/g, ''));
  });

  const megabyte = 1_000_000;
  const hostile: Record<string, string> = {
    'full stops': '.',
    'full stops with spaces': '. ',
    abbreviations: 'e.g. ',
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
    it(`takes linear time for a megabyte of ${name}`, () => {
      const text = piece.repeat(megabyte / piece.length);
      // Processor time, because other programs may delay this one.
      const before = process.cpuUsage();
      const sentences = splitSentences(`${text}\n\nThe end.`);
      assert.equal(sentences.at(-1), 'The end.');
      const { user, system } = process.cpuUsage(before);
      assert.ok(user + system < 5_000_000);
    });
  }
});
