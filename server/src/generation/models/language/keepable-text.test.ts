import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeepableText, keepable } from './keepable-text.ts';

const secret = 'sk-Secret-sk-Secret-0123456789';

function through(pieces: readonly string[], key: string | undefined = secret): string[] {
  const stream = new KeepableText(key);
  return [...pieces.map((piece) => stream.add(piece)), stream.end()];
}

describe('text of a model', () => {
  it('passes as it comes when there is nothing to hold back', () => {
    assert.deepEqual(through(['Thirty ', 'day ', 'limit.']), ['Thirty ', 'day ', 'limit.', '']);
  });

  it('never shows the secret, wherever it is cut in two', () => {
    const text = `before ${secret} after`;
    for (let cut = 0; cut <= text.length; cut++) {
      const shown = through([text.slice(0, cut), text.slice(cut)]);
      assert.equal(shown.join(''), 'before [redacted] after', `cut at ${cut}`);
    }
  });

  it('never shows the secret when it comes character by character, or with NULs in it', () => {
    assert.equal(through([...`<${secret}>`]).join(''), '<[redacted]>');
    assert.equal(through([...secret].map((character) => `${character}\0`)).join(''), '[redacted]');
  });

  it('gives back what only looked like the beginning of the secret', () => {
    assert.equal(through(['sk-Sec', 'ond thoughts']).join(''), 'sk-Second thoughts');
    assert.equal(through(['ends in sk-Secret-sk-Sec']).join(''), 'ends in sk-Secret-sk-Sec');
    assert.equal(through(['sk-Secret-', secret]).join(''), 'sk-Secret-[redacted]');
  });

  it('leaves words alone that a local server takes as a key', () => {
    assert.equal(through(['Use ollama here'], 'ollama').join(''), 'Use ollama here');
  });

  it('keeps a surrogate pair whole that came in two pieces', () => {
    assert.deepEqual(through(['a\ud83d', '\ude00b']), ['a', '\u{1F600}b', '']);
  });

  it('replaces halves that never find the other', () => {
    assert.deepEqual(through(['a\ud83d', 'b']), ['a', '\ufffdb', '']);
    assert.deepEqual(through(['a\ud83d']), ['a', '\ufffd']);
    assert.deepEqual(through(['\ude00a']), ['\ufffda', '']);
  });

  it('drops NULs', () => {
    assert.equal(keepable('a\0b\0', undefined), 'ab');
  });
});
