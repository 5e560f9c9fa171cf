import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fastify } from 'fastify';
import { publishReference } from './openapi.ts';

it('The OpenAPI document can be requested again after it could not be created', async () => {
  const app = fastify();
  let attempts = 0;
  publishReference(app, async () => {
    attempts += 1;
    if (attempts === 1) throw new Error('no file descriptor left');
  });
  assert.equal((await app.inject('/openapi.json')).statusCode, 500);
  const statuses = [1, 2].map(async () => (await app.inject('/openapi.json')).statusCode);
  assert.deepEqual(await Promise.all(statuses), [200, 200]);
  assert.equal(attempts, 2);
  await app.close();
});
