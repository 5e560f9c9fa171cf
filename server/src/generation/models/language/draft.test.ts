import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { apiKey, library, requestOf } from '../../../../testing/describe-drafts.ts';
import { draftEvents } from './draft.ts';
import { passageSearches } from './passage-searches.ts';
import type { ModelPart } from './sdk.ts';

const pieces = 100_000;

/** A draft of which everything has arrived at once. */
function draftOf(part: ModelPart) {
  const request = requestOf('Hello?');
  async function* stream(): AsyncGenerator<ModelPart> {
    for (let count = 0; count < pieces; count++) yield part;
    yield { type: 'text', text: 'Yes.' };
    yield { type: 'finish', reason: 'stop' };
  }
  return draftEvents(
    {
      request,
      signal: request.signal,
      searches: passageSearches(library, request, apiKey),
      sdk: { stream },
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
      for await (const event of draftOf({ type, text: 'a ' })) if (event.type === 'text') text += event.text;
      clearImmediate(immediate);
      assert.equal(text, `${type === 'text' ? 'a '.repeat(pieces) : ''}Yes.`);
      assert.ok(turns >= 3, `${turns} turns`);
    });
  }
});
