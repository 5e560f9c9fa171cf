import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { apiKey, buildRequest, library } from '../../../testing/describe-drafts.ts';
import { draftEvents } from './draft.ts';
import { passageSearches } from './passage-searches.ts';

const pieces = 100_000;

/** A draft of which everything has arrived at once. */
function startDraft(type: 'text' | 'reasoning', delta: string) {
  const request = buildRequest('Hello?');
  const finishReason = { unified: 'stop', raw: 'stop' };
  async function* stream(): AsyncGenerator<unknown> {
    yield { type: `${type}-start`, id: '1' };
    for (let count = 0; count < pieces; count++) yield { type: `${type}-delta`, id: '1', delta };
    yield { type: 'text-start', id: '2' };
    yield { type: 'text-delta', id: '2', delta: 'Yes.' };
    yield { type: 'finish', finishReason, usage: {} };
    throw new Error('The connection broke after the whole answer.');
  }
  const doStream = async () => ({ stream: stream() as unknown as ReadableStream<LanguageModelV4StreamPart> });
  return draftEvents(
    {
      model: { doStream } as Partial<LanguageModelV4> as LanguageModelV4,
      request,
      searches: passageSearches(library, request, apiKey),
      apiKey,
      replyLengthMax: Number.MAX_SAFE_INTEGER,
    },
    false,
  );
}

describe('a draft that arrives in a burst of small pieces', () => {
  for (const type of ['text', 'reasoning'] as const) {
    it(`yields to the event loop (${type})`, async () => {
      let turns = 0;
      const counted = () => {
        turns++;
        immediate = setImmediate(counted);
      };
      let immediate = setImmediate(counted);
      let text = '';
      for await (const event of startDraft(type, 'a ')) if (event.type === 'text') text += event.text;
      clearImmediate(immediate);
      assert.equal(text, `${type === 'text' ? 'a '.repeat(pieces) : ''}Yes.`);
      assert.ok(turns >= 3, `${turns} turns`);
    });
  }
});
