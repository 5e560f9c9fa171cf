import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type ProviderStandIn, startProvider } from '../../../testing/provider-stand-in.ts';
import { ModelError } from '../../port/model.ts';
import { boundedFetch, type FetchBounds } from './bounded-fetch.ts';

describe('a bounded fetch', () => {
  let standIn: ProviderStandIn;
  before(async () => {
    standIn = await startProvider();
  });
  after(() => standIn.close());

  function ask(
    command: string,
    bounds: Partial<FetchBounds> = {},
    init: RequestInit = {},
  ): Promise<Response> {
    const bounded = boundedFetch({
      silenceMs: 20_000,
      answerBytesMax: 1_000_000,
      lineBytesMax: 100_000,
      ...bounds,
    });
    const body = JSON.stringify({ messages: [{ role: 'user', content: command }] });
    return bounded(`${standIn.url}/chat/completions`, { method: 'POST', body, ...init });
  }

  function assertFinal(error: unknown): boolean {
    return (
      error instanceof ModelError && !error.transient && /more than a reply can hold/.test(error.message)
    );
  }

  it('passes a response on unchanged', async () => {
    const response = await ask('!deltas ["Thirty days."]');
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'text/event-stream');
    assert.match(await response.text(), /Thirty days\.[\s\S]*\[DONE\]/);
  });

  it('allows exactly the maximum number of bytes', async () => {
    const { byteLength: length } = await (await ask('!deltas ["Thirty days."]')).arrayBuffer();
    assert.ok(length > 0);
    await (await ask('!deltas ["Thirty days."]', { answerBytesMax: length })).arrayBuffer();
    const tooLong = await ask('!deltas ["Thirty days."]', { answerBytesMax: length - 1 });
    await assert.rejects(tooLong.arrayBuffer(), assertFinal);
  });

  it('limits the length of a line before the length of the response', async () => {
    const response = await ask('!endless-line', { answerBytesMax: Number.MAX_SAFE_INTEGER });
    await assert.rejects(response.arrayBuffer(), assertFinal);
    const lines = await ask('!endless-comments', { answerBytesMax: 1_000_000 });
    await assert.rejects(lines.arrayBuffer(), assertFinal);
  });

  it('does not count the time while the reader is paused', async () => {
    const response = await ask('!deltas ["Thirty days."]', { silenceMs: 1000 });
    await pause(1200);
    assert.match(await response.text(), /\[DONE\]/);
  });

  it('returns the beginning of an error response that is long or never ends', async () => {
    const endless = await ask('!status-endless', { silenceMs: 200 });
    assert.deepEqual([endless.status, await endless.text()], [500, 'It']);
    const long = await ask(`!status 400 \n${'fees '.repeat(400_000)}`, { lineBytesMax: 1_000_000 });
    const { byteLength } = await long.arrayBuffer();
    assert.ok(byteLength >= 65_536 && byteLength < 500_000, String(byteLength));
  });
});
