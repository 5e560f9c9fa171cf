import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startModelServer } from './model-server.ts';

it('a provider in a separate process responds, reports what it was asked, and exits', async () => {
  const provider = await startModelServer();
  const body = { messages: [{ role: 'user', content: '!deltas ["Thirty ","days."]' }] };
  const answer = await fetch(`${provider.url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  assert.match(await answer.text(), /Thirty [\s\S]*days\.[\s\S]*\[DONE\]/);
  const [request, ...others] = await provider.requests();
  assert.deepEqual(others, []);
  assert.equal(request?.path, '/v1/chat/completions');
  assert.deepEqual(request?.body, body);
  assert.equal(request?.closedEarly, false);
  await provider.close();
  await assert.rejects(provider.requests());
});
