import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fastify } from 'fastify';
import { defineRoute, encoded, mountRoute, rendered } from './route.ts';
import { Type } from './schema.ts';
import { HeldRequests, type Piece } from './wire/index.ts';

describe('A route with a large response', () => {
  it('loads none of it for HEAD', async () => {
    let loads = 0;
    async function* pieces(): AsyncGenerator<Piece> {
      loads += 1;
      yield Buffer.from('{}');
    }
    const route = defineRoute({
      method: 'GET',
      url: '/large',
      operationId: 'getLarge',
      summary: '',
      description: '',
      caller: 'anyone',
      success: { status: 200, schema: Type.Object({}), conditional: true },
      errors: {},
      handle: async () => ({ body: pieces(), etag: 'W/"1"' }),
    });
    const app = fastify();
    app.decorateRequest('principal', { getter: () => ({ organizationId: 'org_1' }) as never });
    mountRoute(app, () => assert.fail('authenticated'), new HeldRequests(), route, {});

    assert.equal((await app.inject('/large')).body, '{}');
    assert.equal(loads, 1);
    const head = await app.inject({ method: 'HEAD', url: '/large' });
    assert.deepEqual([head.statusCode, head.headers.etag, head.body], [200, 'W/"1"', '']);
    assert.equal(head.headers['content-length'], undefined);
    await app.close();
    assert.equal(loads, 1);
  });
});

describe('Kept JSON', () => {
  it('keeps only its own bytes in memory', () => {
    const body = encoded(rendered({ text: '“ünïcödé”' }));
    assert.equal(body.toString(), '{"text":"“ünïcödé”"}');
    assert.equal(body.buffer.byteLength, body.length);
  });
});
