import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import type { SkeinOptions } from '../../../client/src/skein.ts';
import { packedClient } from './packed.ts';

describe('A client with invalid options', () => {
  it('is rejected with a message that does not contain the secret', async () => {
    const { Skein } = await packedClient();
    const baseUrl = 'https://skein.example';
    const wrong: [object | undefined, RegExp][] = [
      [{ baseUrl }, /either an apiKey or a clientId/],
      [{ baseUrl, apiKey: 'a', clientId: 'b', clientSecret: 'c' }, /either an apiKey or/],
      [{ baseUrl, clientId: 'b' }, /clientSecret must be/],
      [{ baseUrl, apiKey: 'eak_secret\n' }, /apiKey must be .*line break/],
      [{ baseUrl, apiKey: '' }, /apiKey must be/],
      [undefined, /needs options/],
      [{ apiKey: 'a' }, /baseUrl must be/],
      [{ baseUrl: 'skein.example', apiKey: 'a' }, /baseUrl must be/],
      [{ baseUrl: 'ftp://skein.example', apiKey: 'a' }, /baseUrl must be/],
      [{ baseUrl: 'https://me:secret@skein.example', apiKey: 'a' }, /baseUrl must be/],
      [{ baseUrl, authUrl: 'nowhere', clientId: 'b', clientSecret: 'c' }, /authUrl must be/],
      [{ baseUrl, apiKey: 'a', retries: -1 }, /retries must be/],
      [{ baseUrl, apiKey: 'a', timeoutMs: Number.NaN }, /timeoutMs must be/],
    ];
    for (const [options, sentence] of wrong) {
      assert.throws(
        () => new Skein(options as SkeinOptions),
        (error) =>
          error instanceof TypeError && sentence.test(error.message) && !/[_:]secret/.test(error.message),
        inspect(options),
      );
    }
  });

  it('rejects a timeout that is not a number', async () => {
    const { Skein } = await packedClient();
    const { threads } = new Skein({ baseUrl: 'https://skein.example', apiKey: 'a' });
    for (const timeoutMs of [Number.NaN, -1]) {
      await assert.rejects(threads.get('thr_1', { timeoutMs }), /timeoutMs must be a number/);
    }
  });

  it('does not print secrets', async () => {
    const { Skein } = await packedClient();
    const made = [
      new Skein({ baseUrl: 'https://skein.example', apiKey: 'eak_hidden' }),
      new Skein({ baseUrl: 'https://skein.example', clientId: 'app', clientSecret: 'hidden' }),
    ];
    for (const one of made) {
      const shown = `${inspect(one, { depth: 9, showHidden: true })}${JSON.stringify(one)}`;
      assert.match(shown, /threads/);
      assert.doesNotMatch(shown, /hidden'/);
    }
  });

  it('rejects an empty thread id', async () => {
    const { Skein } = await packedClient();
    const { threads } = new Skein({ baseUrl: 'https://skein.example', apiKey: 'a' });
    for (const id of ['', '.', '..']) {
      await assert.rejects(threads.get(id), TypeError);
      await assert.rejects(threads.delete(id), TypeError);
    }
  });
});
