import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { until } from '../../../runtime/testing/until.ts';
import {
  apiKey,
  assertModelError,
  buildRequest,
  describeDrafts,
  drained,
  fees,
  found,
  goodText,
  library,
  refunds,
  shipping,
  steps,
} from '../../testing/describe-drafts.ts';
import { createLibrary } from '../../testing/library-fixture.ts';
import { startProvider } from '../../testing/provider-stand-in.ts';
import type { PassageSearch } from '../port/model.ts';
import { languageModel } from './language.ts';

describeDrafts('drafts', (trial) => {
  const { provider, draft, modelWith } = trial;

  describe('a good answer', () => {
    it('arrives in pieces, after the passages', async () => {
      const { events, own, text, error } = await draft('How long do refunds take?');
      assert.equal(error, undefined);
      assert.deepEqual(events.slice(0, found.length), found);
      assert.ok(own.length > 1 && own.every(({ type }) => type === 'text'), JSON.stringify(own));
      assert.equal(text, goodText);
      assert.equal(trial.standIn.requests.at(-1)?.closedEarly, false, 'the connection can be used again');
    });

    it('is requested with the model, the key and the passages', async () => {
      await draft('How long do refunds take?');
      const { headers, body } = trial.standIn.requests.at(-1) ?? {};
      assert.equal(body.model, 'stand-in');
      assert.equal(body.stream, true);
      const key = provider === 'anthropic' ? headers?.['x-api-key'] : headers?.authorization;
      assert.equal(key, provider === 'anthropic' ? apiKey : `Bearer ${apiKey}`);
      const sent = JSON.stringify(body);
      for (const { text, title } of [refunds, shipping])
        assert.ok(sent.includes(text) && sent.includes(title));
      assert.ok(sent.includes('number=\\"2\\"'));
    });

    it('involves no search if there are no documents', async () => {
      const { events, text } = await draft('How long do refunds take?', {
        library: { search: async () => ({ searched: 0, passages: [] }) },
      });
      assert.equal(text, 'The documents do not say.');
      assert.ok(events.every(({ type }) => type === 'text'));
      assert.equal(trial.standIn.requests.at(-1)?.body.tools, undefined);
    });

    it('uses the singular for one passage, and lists no document if none fits', async () => {
      const bare = { search: async () => ({ searched: 1, passages: [] }) };
      const { events } = await draft('How long?', { library: bare });
      assert.deepEqual(events[0], { type: 'step', description: 'Searching 1 passage' });
      assert.ok(events.slice(1).every(({ type }) => type === 'text'));
    });

    it('is marked if it was cut at the token limit', async () => {
      const { own, text, error } = await draft('!length');
      assert.equal(error, undefined);
      assert.equal(text, 'As far as this …');
      assert.deepEqual(steps(own), ['The model reached its length limit']);
    });

    it('is complete with its last event, even if the connection stays open', async () => {
      const { text, error } = await draft('!linger');
      assert.equal(error, undefined);
      assert.equal(text, goodText);
      await until(() => trial.standIn.requests.at(-1)?.closedEarly === true);
    });

    it('arrives once, however slowly', async () => {
      const { text, error } = await draft('!drip 5');
      assert.equal(error, undefined);
      assert.equal(text, goodText);
    });
  });

  describe('text', () => {
    it('keeps surrogate pairs whole and loses NULs', async () => {
      const { own, error } = await draft(String.raw`!deltas ["a\ud83d","\ude00 b\u0000c"]`);
      assert.equal(error, undefined);
      assert.deepEqual(own, [
        { type: 'text', text: 'a' },
        { type: 'text', text: '\u{1F600} bc' },
      ]);
    });

    it('replaces lone surrogates and invalid UTF-8', async () => {
      assert.equal((await draft(String.raw`!deltas ["a\ud83d","b"]`)).text, 'a\ufffdb');
      assert.equal((await draft('!bad-utf8')).text, 'bad \ufffd(\ufffd bytes.');
    });

    it('without a word is a transient failure', async () => {
      for (const deltas of ['["[1]"]', '["[","1","]"," [2, 3]."]', '[" \\n","**"]']) {
        assertModelError((await draft(`!deltas ${deltas}`)).error, true, 'The model returned no text.');
      }
      assert.equal((await draft('!deltas ["4","2 [1]"]')).text, '42 [1]');
      assert.equal((await draft('!deltas ["字"]')).text, '字');
    });

    it('beyond its limit fails the draft and closes the connection', async () => {
      const { text, error } = await draft('!huge', { replyLengthMax: 50_000 });
      assertModelError(error, false, 'The model wrote more than 50,000 characters.');
      assert.ok(text.length > 0 && text.length <= 50_000);
      await until(() => trial.standIn.requests.at(-1)?.closedEarly === true);
    });

    it('that is missing is a transient failure', async () => {
      const { own, error } = await draft('!no-text');
      assertModelError(error, true, 'The model returned no text.');
      assert.deepEqual(own, []);
      assertModelError(
        (await draft(String.raw`!deltas [" \u0000","\n"]`)).error,
        true,
        'The model returned no text.',
      );
    });

    it('that the provider withholds is a permanent failure', async () => {
      assertModelError((await draft('!withhold')).error, false, 'The provider withheld the answer.');
    });
  });

  describe('reasoning', () => {
    it('becomes steps, one per paragraph, before the text', async () => {
      const { own, text } = await draft('!reasoning Refunds first. Then more. | Now the depot.');
      const descriptions = ['Refunds first.', 'Now the depot.'];
      assert.deepEqual(
        own.slice(0, 2),
        descriptions.map((description) => ({ type: 'step', description })),
      );
      assert.ok(own.slice(2).every(({ type }) => type === 'text'));
      assert.equal(text, goodText);
    });

    if (provider === 'openai-compatible') {
      it('becomes steps if the provider leaves it in the text, between tags', async () => {
        const { own, text } = await draft(
          '!deltas ["<thi", "nk>Refunds first.", "</think>\\n\\nThirty ", "days."]',
        );
        assert.deepEqual(steps(own), ['Refunds first.']);
        assert.equal(text.trim(), 'Thirty days.');
      });
    }

    it('is cut if it does not end', async () => {
      const paragraphs = Array.from({ length: 80 }, (_, index) => `Thought ${index}.`).join(' | ');
      const { own } = await draft(`!reasoning ${paragraphs}`);
      assert.equal(steps(own).length, 50);
    });
  });

  describe('searches of the model', () => {
    it('are steps, and continue the numbers of the passages', async () => {
      const { own, text, error } = await draft('!tool fees');
      assert.equal(error, undefined);
      assert.deepEqual(
        own.filter(({ type }) => type !== 'text'),
        [
          { type: 'step', description: 'Searching the documents for “fees”' },
          { type: 'step', description: 'Reading Fees' },
          { type: 'passages', passages: [fees] },
        ],
      );
      assert.equal(text, 'Let me look.\n\nCards cost two percent abroad [3].');
      const reported = own.findIndex(({ type }) => type === 'passages');
      const cited = own.findIndex((event) => event.type === 'text' && event.text.includes('[3]'));
      assert.ok(reported !== -1 && reported < cited, 'a passage is reported before it is cited');
    });

    it('are followed by a request that repeats what the provider has signed', async () => {
      const { text, error } = await draft('!reasoned-tool fees');
      assert.equal(error, undefined);
      assert.equal(text, 'Cards cost two percent abroad [3].');
      assert.match(JSON.stringify(trial.standIn.requests.at(-1)!.body.messages), /"\w*signature":"signed"/);
    });

    it('show their query on one short line', async () => {
      const { own } = await draft(`!tool ${'many\u0007 words\u0000 '.repeat(30)}`);
      const [description = ''] = steps(own);
      assert.match(description, /^Searching the documents for “many words (many words ?)*…”$/);
      assert.ok(description.length < 120);
    });

    it('end with the fifth request, which must be an answer', async () => {
      const asked = trial.standIn.requests.length;
      const { own, text, error } = await draft('!tool-forever fees');
      assert.equal(error, undefined);
      assert.equal(trial.standIn.requests.length - asked, 5);
      assert.equal(steps(own).filter((step) => step.startsWith('Searching')).length, 4);
      assert.equal(text, 'Cards cost two percent abroad [3].');
    });

    it('are limited in number and length', async () => {
      const failure = 'The model searched too much at once.';
      assertModelError((await draft('!tools 33')).error, true, failure);
      assertModelError((await draft(`!tool ${'fees '.repeat(5_000)}`)).error, true, failure);
      assertModelError((await draft(`!open-tool ${'fees '.repeat(5_000)}`)).error, true, failure);
      const { own, text } = await draft('!tools 32');
      assert.equal(steps(own).filter((step) => step.startsWith('Searching')).length, 8);
      assert.equal(text, 'Cards cost two percent abroad [3].');
    });

    it('are rejected quickly, however many there are in one event', async () => {
      const started = performance.now();
      const { error } = await draft('!tools-at-once 12000');
      assertModelError(error, true, 'The model searched too much at once.');
      const ms = performance.now() - started;
      assert.ok(ms < 5_000, `refused after ${ms} ms`);
    });

    it('need a query', async () => {
      for (const input of ['{"query":7}', '{"query"', '5', '"fees"', '[7]', 'null']) {
        const { own, text, error } = await draft(`!bad-tool ${input}`);
        assert.equal(error, undefined);
        assert.deepEqual(steps(own), []);
        assert.equal(text, 'The documents do not say.');
        const sent = JSON.stringify(trial.standIn.requests.at(-1)?.body.messages);
        assert.match(sent, /"(?:arguments":"|input":)\{/, 'providers reject inputs that are no objects');
      }
    });

    it('fail the draft with the error of the library', async () => {
      const reason = new Error('The store is closed.');
      const failing: PassageSearch = {
        search: async (organizationId, accountId, question, ...others) => {
          if (question === 'fees') throw reason;
          return library.search(organizationId, accountId, question, ...others);
        },
      };
      assert.equal((await draft('!tool fees', { library: failing })).error, reason);
    });

    it('are no longer offered after a provider rejected them and answered without', async () => {
      const model = modelWith();
      const asked = trial.standIn.requests.length;
      assert.equal((await draft('!refuse-tools', {}, model)).text, goodText);
      assert.equal((await draft('!refuse-tools', {}, model)).text, goodText);
      const bodies = trial.standIn.requests.slice(asked).map(({ body }) => body);
      assert.deepEqual(
        bodies.map(({ tools }) => tools?.length),
        [1, undefined, undefined],
      );
    });

    it('are recognized as the reason of a long rejection', async () => {
      assert.equal((await draft(`!refuse-tools ${'fees '.repeat(400_000)}`)).text, goodText);
    });

    it('are offered again if the rejection had another reason', async () => {
      const model = modelWith();
      assertModelError((await draft('!status 400 \nwith tools', {}, model)).error, false, /400/);
      await draft('How long do refunds take?', {}, model);
      assert.equal(trial.standIn.requests.at(-1)?.body.tools.length, 1);
    });
  });

  it('prints nothing, whatever happens', async (context) => {
    const printed = (['log', 'info', 'warn', 'error'] as const).map((name) =>
      context.mock.method(console, name, () => {}),
    );
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on('warning', warned);
    for (const prompt of ['Hello?', '!status 500', '!bad-json', '!cut']) await draft(prompt);
    await pause(0);
    process.off('warning', warned);
    assert.deepEqual(
      printed.flatMap(({ mock }) => mock.calls.map(({ arguments: words }) => words)),
      [],
    );
    assert.deepEqual(warnings, []);
  });

  it('answers many drafts at once, each with its own text', async () => {
    const model = modelWith();
    const drafts = Array.from({ length: 100 }, (_, index) =>
      draft(`!deltas ["Number ","${index}"]`, {}, model),
    );
    const texts = (await Promise.all(drafts)).map(({ text }) => text);
    assert.deepEqual(
      texts,
      Array.from({ length: 100 }, (_, index) => `Number ${index}`),
    );
  });
});

describe('a language model', () => {
  const settings = { model: 'm', name: 'm', library, silenceMs: 1_000, replyLengthMax: 1_000 };

  it('is given the passages that a search finds, in order, with their titles and headings', async () => {
    const fixture = createLibrary([
      {
        title: 'Refund policy',
        passages: [
          { heading: 'Returns › Unused yarn', text: 'Unused yarn is refunded within 30 days.' },
          { heading: 'Returns › Sale items', text: 'Sale items are never refunded, only exchanged.' },
        ],
      },
      { title: 'Opening hours', passages: ['Refunds are paid out at the counter on weekdays.'] },
    ]);
    const standIn = await startProvider();
    try {
      const { organizationId, library } = fixture;
      const question = 'Are sale items and unused yarn refunded?';
      const { passages } = await library.search(organizationId, null, question, 8);
      assert.ok(passages.length >= 2, JSON.stringify(passages));
      const options = { ...settings, library, provider: 'openai-compatible', baseUrl: standIn.url } as const;
      await drained(
        languageModel(options).draft({ ...buildRequest(question), organizationId, accountId: null }),
      );
      const prompt: string = standIn.requests[0]?.body.messages[0].content;
      const expected = passages.map(({ title, heading, text }, at) => {
        const place = heading === '' ? '' : ` heading="${heading}"`;
        return `<passage number="${at + 1}" title="${title}"${place}>\n${text}\n</passage>`;
      });
      assert.ok(prompt.endsWith(expected.join('\n\n')), prompt);
    } finally {
      await standIn.close();
    }
  });

  it('sends no credential to a provider that needs none', async () => {
    const standIn = await startProvider();
    try {
      const model = languageModel({ ...settings, provider: 'openai-compatible', baseUrl: standIn.url });
      assert.ok((await drained(model.draft(buildRequest('Hello?')))).length > found.length);
      assert.equal(standIn.requests[0]?.headers.authorization, undefined);
    } finally {
      await standIn.close();
    }
  });

  it('loads the SDK with the first draft', async () => {
    const standIn = await startProvider();
    const script = `
      import { registerHooks } from 'node:module';
      const loaded = () => urls.some((url) => url.includes('/@ai-sdk/'));
      const urls = [];
      registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
      const { languageModel } = await import(${JSON.stringify(import.meta.resolve('./language.ts'))});
      const library = { search: async () => ({ searched: 0, passages: [] }) };
      const options = { provider: 'openai-compatible', model: 'm', name: 'm', silenceMs: 5000, replyLengthMax: 999 };
      const model = languageModel({ ...options, baseUrl: ${JSON.stringify(standIn.url)}, library });
      console.log(loaded());
      const conversation = [{ role: 'user', content: 'Hello?' }];
      for await (const _ of model.draft({ conversation, signal: new AbortController().signal }));
      console.log(loaded());`;
    const words = ['--input-type=module', '--eval', script];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, words);
    await standIn.close();
    assert.deepEqual([stdout, stderr], ['false\ntrue\n', '']);
  });
});
