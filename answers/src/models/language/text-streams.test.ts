import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endOfReasoning, reasoningSteps, storable, storableText, TaggedReasoning } from './text-streams.ts';

const secret = 'sk-Secret-sk-Secret-0123456789';

function through(pieces: readonly string[], key: string | undefined = secret): string[] {
  const stream = storableText(key);
  return [...pieces.map((piece) => stream.add(piece)), stream.end()];
}

describe('storable text', () => {
  it('passes text through if there is nothing to hold back', () => {
    assert.deepEqual(through(['Thirty ', 'day ', 'limit.']), ['Thirty ', 'day ', 'limit.', '']);
  });

  it('redacts the secret wherever it is split', () => {
    const text = `before ${secret} after`;
    for (let cut = 0; cut <= text.length; cut++) {
      const shown = through([text.slice(0, cut), text.slice(cut)]);
      assert.equal(shown.join(''), 'before [redacted] after', `cut at ${cut}`);
    }
  });

  it('redacts the secret character by character, and with NULs in it', () => {
    assert.equal(through([...`<${secret}>`]).join(''), '<[redacted]>');
    assert.equal(through([...secret].map((character) => `${character}\0`)).join(''), '[redacted]');
  });

  it('releases text that only looked like the start of the secret', () => {
    assert.equal(through(['sk-Sec', 'ond thoughts']).join(''), 'sk-Second thoughts');
    assert.equal(through(['ends in sk-Secret-sk-Sec']).join(''), 'ends in sk-Secret-sk-Sec');
    assert.equal(through(['sk-Secret-', secret]).join(''), 'sk-Secret-[redacted]');
  });

  it('does not redact placeholder keys of local servers', () => {
    assert.equal(through(['Use ollama here'], 'ollama').join(''), 'Use ollama here');
  });

  it('joins a surrogate pair that was split', () => {
    assert.deepEqual(through(['a\ud83d', '\ude00b']), ['a', '\u{1F600}b', '']);
  });

  it('replaces lone surrogates', () => {
    assert.deepEqual(through(['a\ud83d', 'b']), ['a', '\ufffdb', '']);
    assert.deepEqual(through(['a\ud83d']), ['a', '\ufffd']);
    assert.deepEqual(through(['\ude00a']), ['\ufffda', '']);
  });

  it('removes NULs', () => {
    assert.equal(storable('a\0b\0', undefined), 'ab');
  });
});

function collectSteps(pieces: readonly string[]): string[] {
  const steps = reasoningSteps();
  return [...pieces, endOfReasoning].flatMap((piece) => steps(piece));
}

describe('reasoning steps', () => {
  it('are the first sentence of each paragraph, however the text is split', () => {
    const text = '**Refunds** come first. They take long.\n\n- Then the\nfees. And more.\n \n\n\nDone';
    const expected = ['Refunds come first.', 'Then the fees.', 'Done'];
    assert.deepEqual(collectSteps([text]), expected);
    assert.deepEqual(collectSteps([...text]), expected);
    for (let cut = 0; cut <= text.length; cut++) {
      assert.deepEqual(collectSteps([text.slice(0, cut), text.slice(cut)]), expected, `cut at ${cut}`);
    }
  });

  it('are returned when their paragraph ends', () => {
    const steps = reasoningSteps();
    assert.deepEqual(steps('One.\n'), []);
    assert.deepEqual(steps('\nTwo'), ['One.']);
    assert.deepEqual(steps(endOfReasoning), ['Two']);
    assert.deepEqual(steps(endOfReasoning), []);
  });

  it('are empty for blank reasoning', () => {
    assert.deepEqual(collectSteps(['', ' \n\n \n', '\n\n']), []);
  });

  it('stay short for any paragraph', () => {
    const [step = '', ...more] = collectSteps(Array.from({ length: 5_000 }, () => 'word '));
    assert.deepEqual(more, []);
    assert.ok(step.endsWith('word…') && step.length <= 200, step);
  });
});

/** The reasoning, with `.` after its end, and the text. */
function split(pieces: readonly string[]): [string, string] {
  const tagged = new TaggedReasoning();
  let reasoning = '';
  let text = '';
  for (const [thought, rest] of [...pieces.map((piece) => tagged.add(piece)), tagged.end()]) {
    reasoning += thought.replace(endOfReasoning, '.');
    text += rest;
  }
  return [reasoning, text];
}

describe('reasoning between tags', () => {
  const cases: [string, string, string][] = [
    ['<think>First. 2 < 3</think>Yes.', 'First. 2 < 3.', 'Yes.'],
    ['\n <think></think>Yes.', '.', 'Yes.'],
    ['<think>It does not end</thin', 'It does not end</thin.', ''],
    ['Yes. <think>No</think>', '', 'Yes. <think>No</think>'],
    ['  <thing>', '', '  <thing>'],
    ['<th', '', '<th'],
    [`${' '.repeat(100)}<think>`, '', `${' '.repeat(100)}<think>`],
    ['', '', ''],
  ];
  for (const [whole, reasoning, text] of cases) {
    it(`is found in any pieces of ${JSON.stringify(whole.trim())}`, () => {
      for (const length of [1, 2, 3, 7, 8, 1000]) {
        const pieces = whole.match(new RegExp(`[^]{1,${length}}`, 'g')) ?? [];
        assert.deepEqual(split(pieces), [reasoning, text], `${length} characters at a time`);
      }
    });
  }
});
