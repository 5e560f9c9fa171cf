import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TextStreamPart, ToolSet } from 'ai';
import { apiKey, library, requestOf } from '../../../../testing/describe-drafts.ts';
import { Draft } from './draft.ts';
import { PassageSearches } from './passage-searches.ts';

const pieces = 100_000;

/** A draft of which everything has arrived at once. */
function draftOf(part: TextStreamPart<ToolSet>): Draft {
  const end = { type: 'finish', finishReason: 'stop', rawFinishReason: 'stop' } as TextStreamPart<ToolSet>;
  const answer = { type: 'text-delta', id: '1', text: 'Yes.' } as TextStreamPart<ToolSet>;
  const request = requestOf('Hello?');
  return new Draft(
    {
      request,
      signal: request.signal,
      fail: (reason) => assert.fail(String(reason)),
      searches: new PassageSearches(library, request, apiKey),
      sdk: {
        stream: () =>
          new ReadableStream({
            start(controller) {
              for (let count = 0; count < pieces; count++) controller.enqueue(part);
              controller.enqueue(answer);
              controller.enqueue(end);
              controller.close();
            },
          }),
      },
      apiKey,
      replyLengthMax: Number.MAX_SAFE_INTEGER,
    },
    false,
  );
}

describe('a draft that arrives in a burst of small pieces', () => {
  for (const type of ['text-delta', 'reasoning-delta'] as const) {
    it(`yields to the event loop (${type})`, async () => {
      let turns = 0;
      const counted = () => {
        turns++;
        immediate = setImmediate(counted);
      };
      let immediate = setImmediate(counted);
      let text = '';
      const part = { type, id: '1', text: 'a ' } as TextStreamPart<ToolSet>;
      for await (const event of draftOf(part).events()) if (event.type === 'text') text += event.text;
      clearImmediate(immediate);
      assert.equal(text, `${type === 'text-delta' ? 'a '.repeat(pieces) : ''}Yes.`);
      assert.ok(turns >= 3, `${turns} turns`);
    });
  }
});
