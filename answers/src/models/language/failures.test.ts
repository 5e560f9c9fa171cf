import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from '../../../../runtime/testing/until.ts';
import {
  apiKey,
  assertModelError,
  buildRequest,
  describeDrafts,
  drained,
  found,
  goodText,
  steps,
} from '../../../testing/describe-drafts.ts';
import { startProvider } from '../../../testing/provider-stand-in.ts';
import type { PassageSearch } from '../../port/model.ts';

describeDrafts('failing drafts', (trial) => {
  const { provider, draft, modelWith } = trial;

  describe('failures', () => {
    for (const status of [408, 409, 425, 429, 500, 502, 503, 529]) {
      it(`with the status ${status} are transient`, async () => {
        const { own, error } = await draft(`!status ${status}`);
        assertModelError(error, true, `The provider answered ${status}.`);
        assert.deepEqual(own, []);
      });
    }

    for (const status of [400, 401, 403, 404, 413, 422]) {
      it(`with the status ${status} are permanent`, async () => {
        assertModelError((await draft(`!status ${status}`)).error, false, `The provider answered ${status}.`);
      });
    }

    it('are reported by their status, even if the response never ends', async () => {
      const { error } = await draft('!status-endless', { silenceMs: 1_000 });
      assertModelError(error, true, 'The provider answered 500.');
    });

    it('report how long the provider asks to wait', async () => {
      const wait = async (words: string) => {
        const { error } = await draft(`!status 429 ${words}`);
        return assertModelError(error, true, /429/).retryAfterMs;
      };
      assert.equal(await wait('retry-after=2'), 2_000);
      assert.equal(await wait('retry-after=86400'), 600_000);
      assert.equal(await wait('retry-after=2 retry-after-ms=150'), 150);
      assert.equal(await wait('retry-after=soon'), undefined);
      assert.equal(await wait(''), undefined);
    });

    it('are not retried here', async () => {
      const asked = trial.standIn.requests.length;
      assertModelError((await draft('!fail 1 then ok')).error, true, 'The provider answered 500.');
      assert.equal(trial.standIn.requests.length - asked, 1);
      assert.equal((await draft('!fail 1 then ok')).text, goodText);
    });

    for (const [command, transient, message, text] of [
      ['!hang', true, 'The model stopped responding.', ''],
      ['!stall', true, 'The model stopped responding.', 'The beginning'],
      ['!cut', true, 'The stream of the model was cut off.', 'The beginning'],
      ['!end', true, 'The stream of the model was cut off.', 'The beginning'],
      ['!empty', true, 'The stream of the model was cut off.', ''],
      ['!reset', true, /^The provider could not be reached \(\w+\)\.$/, ''],
      [
        '!error overloaded_error',
        true,
        /^The provider (answered 529|reported an error in its stream)\.$/,
        'The beginning',
      ],
      [
        '!error-first overloaded_error',
        true,
        /^The provider (answered 529|reported an error in its stream)\.$/,
        '',
      ],
      [
        '!error invalid_request_error',
        false,
        /^The provider (answered 400|reported an error in its stream)\.$/,
        'The beginning',
      ],
      ['!bad-json', false, 'The provider answered with a malformed stream.', 'The beginning'],
      ['!not-http', false, 'The provider answered with a malformed stream.', ''],
      ['!html', false, 'The provider did not answer with a stream of events.', ''],
      ['!redirect', false, 'The provider redirects to another URL.', ''],
      ['!endless-line', false, 'The provider sent more than a reply can hold.', ''],
      ['!endless-comments', false, 'The provider sent more than a reply can hold.', ''],
    ] as const) {
      it(`by ${command} are ${transient ? 'transient' : 'permanent'}`, async () => {
        const asked = trial.standIn.requests.length;
        const outcome = await draft(command, { silenceMs: /hang|stall/.test(command) ? 1_000 : 20_000 });
        assertModelError(outcome.error, transient, message);
        assert.deepEqual(outcome.events.slice(0, found.length), found);
        // What came right before a broken connection may be lost with it.
        if (command === '!cut') assert.ok(text.startsWith(outcome.text), outcome.text);
        else assert.equal(outcome.text, text);
        // Neither a second attempt nor, with the key, a request to another URL.
        assert.equal(trial.standIn.requests.length - asked, 1);
      });
    }

    it('to connect are transient', async () => {
      const gone = await startProvider();
      await gone.close();
      const { error } = await draft('Hello?', { baseUrl: gone.url });
      assertModelError(error, true, 'The provider could not be reached (ECONNREFUSED).');
    });
  });

  describe('an aborted draft', () => {
    for (const command of ['!hang', '!stall', '!drip 20', '!huge', '!endless-comments']) {
      it(`ends at once with the reason, and closes the connection of ${command}`, async () => {
        const abort = new AbortController();
        const asked = trial.standIn.requests.length;
        const model = modelWith({ replyLengthMax: Number.MAX_SAFE_INTEGER });
        const ended = (async () => {
          for await (const _ of model.draft(buildRequest(command, abort.signal)));
        })();
        ended.catch(() => {});
        await until(() => trial.standIn.requests.length > asked);
        const reason = new Error('Cancelled.');
        abort.abort(reason);
        await assert.rejects(ended, (error) => error === reason);
        await until(() => trial.standIn.requests.at(-1)?.closedEarly === true);
      });
    }

    it('sends no request if it was aborted before', async () => {
      const asked = trial.standIn.requests.length;
      const reason = new Error('Cancelled.');
      const drafted = modelWith().draft(buildRequest('Hello?', AbortSignal.abort(reason)));
      await assert.rejects(drained(drafted), (error) => error === reason);
      assert.equal(trial.standIn.requests.length, asked);
    });

    it('does not wait for the library', async () => {
      const abort = new AbortController();
      const searching = Promise.withResolvers<void>();
      const slow: PassageSearch = {
        search: () => {
          searching.resolve();
          return new Promise(() => {});
        },
      };
      const drafted = drained(modelWith({ library: slow }).draft(buildRequest('Hello?', abort.signal)));
      await searching.promise;
      abort.abort(new Error('Cancelled.'));
      await assert.rejects(drafted, /Cancelled/);
    });

    it('closes the connection when the reader stops reading', async () => {
      for await (const event of modelWith().draft(buildRequest('!stall'))) if (event.type === 'text') break;
      await until(() => trial.standIn.requests.at(-1)?.closedEarly === true);
    });
  });

  describe('the key', () => {
    it('is redacted in text and steps, however it is split', async () => {
      const { own, text, error } = await draft('!echo-key');
      assert.equal(error, undefined);
      assert.equal(text, 'Your key is [redacted], keep it.');
      assert.deepEqual(steps(own), ['Your key is [redacted], keep it.']);
    });

    it('is redacted in search queries', async () => {
      const { own } = await draft(`!tool ${apiKey}`);
      assert.ok(steps(own).includes('Searching the documents for “[redacted]”'), JSON.stringify(own));
    });

    it('does not appear in an error, nor does the prompt, when an error response repeats them', async () => {
      for (const status of [400, 401, 429, 500]) {
        const { error } = await draft(`!status ${status}\nOur secret plan`);
        assertModelError(error, status >= 429, `The provider answered ${status}.`);
        const logged = `${error} ${(error as Error).stack} ${JSON.stringify(error)} ${(error as Error).cause}`;
        assert.ok(!logged.includes(apiKey) && !logged.includes('secret plan'), logged);
      }
    });

    it('is sent only in its own header', async () => {
      await draft('How long do refunds take?');
      const { headers, body, path } = trial.standIn.requests.at(-1) ?? {};
      const holding = Object.entries(headers ?? {}).filter(([, value]) => String(value).includes(apiKey));
      assert.deepEqual(
        holding.map(([name]) => name),
        [provider === 'anthropic' ? 'x-api-key' : 'authorization'],
      );
      assert.ok(!JSON.stringify(body).includes(apiKey) && !path?.includes(apiKey));
    });
  });
});
