import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeepableText, keepable } from './keepable-text.ts';

const secret = 'sk-Secret-sk-Secret-0123456789';

function through(pieces: readonly string[], key: string | undefined = secret): string[] {
  const stream = new KeepableText(key);
  return [...pieces.map((piece) => stream.add(piece)), stream.end()];
}

describe('keepable text', () => {
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
    assert.equal(keepable('a\0b\0', undefined), 'ab');
  });
});
