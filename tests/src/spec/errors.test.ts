import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { before, describe, it } from 'node:test';
import type { ApiResponse } from '../../harness/http/conformance.ts';
import { assertEnvelope, RawConnection } from '../../harness/http/raw-http.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { assertFails, createThread, sharedWorld, type World } from '../../harness/world/world.ts';

describe('Errors', () => {
  let world: World;
  /** A published thread of Ada's. */
  let published: string;
  before(async () => {
    world = await sharedWorld();
    published = (await createThread(world.ada)).thread.id;
    await world.publish(published);
  });

  /** One failure for every code that a caller can cause. */
  async function failures(): Promise<ApiResponse[]> {
    return [
      await world.ada.create({}),
      await world.nobody.list(),
      await world.ben.delete(published),
      await world.ada.get('x'),
      await world.ada.call('PUT', '/threads'),
    ];
  }

  /** Runs while the service cannot count requests. */
  async function withoutQuotaStorage(run: () => Promise<void>): Promise<void> {
    // The service may be writing.
    const database = new DatabaseSync(join(world.service.folder, 'data/skein.db'), { timeout: 10_000 });
    database.exec('ALTER TABLE quota_use RENAME TO quota_use_away');
    try {
      await run();
    } finally {
      database.exec('ALTER TABLE quota_use_away RENAME TO quota_use');
      database.close();
    }
  }

  describe('The envelope', () => {
    it('is an error with code, message and trace_id, as JSON, and nothing else', async () => {
      for (const { headers, body } of await failures()) {
        assert.match(headers.get('content-type') ?? '', /^application\/json\b/);
        assert.deepEqual(Object.keys(body), ['error']);
        assert.deepEqual(Object.keys(body.error).sort(), ['code', 'message', 'trace_id']);
        for (const value of Object.values(body.error)) assert.match(value as string, /\S/);
      }
    });

    it('has a unique trace_id for each request, which X-Request-Id repeats', async () => {
      const answers = await failures();
      const traces = answers.map(({ body }) => body.error.trace_id);
      assert.equal(new Set(traces).size, traces.length);
      assert.deepEqual(
        answers.map(({ headers }) => headers.get('x-request-id')),
        traces,
      );
    });

    it('has a trace_id that also appears in the log', async () => {
      const { trace_id } = (await world.ada.get('x')).body.error;
      await eventually(() => world.service.output.some((line) => line.includes(trace_id)));
    });
  });

  describe('The codes', () => {
    it('match their statuses: INVALID_PARAMS 400, UNAUTHORIZED 401, FORBIDDEN 403, NOT_FOUND 404', async () => {
      assert.deepEqual(
        (await failures()).map(({ status, body }) => [status, body.error.code]),
        [
          [400, 'INVALID_PARAMS'],
          [401, 'UNAUTHORIZED'],
          [403, 'FORBIDDEN'],
          [404, 'NOT_FOUND'],
          [404, 'NOT_FOUND'],
        ],
      );
    });

    it('include INVALID_PARAMS for each of its conditions', async () => {
      const id = (await createThread(world.ada)).thread.id;
      const conditions = {
        'body fails the schema': world.ada.create({ prompt: '' }),
        'query fails the schema': world.ada.list({ limit: 0 }),
        'body is not JSON': world.ada.call('POST', '/threads', { raw: '{' }),
        'a required parameter is missing': world.ada.call('PATCH', `/threads/${id}`, { body: {} }),
        'PATCH has an unknown field': world.ada.call('PATCH', `/threads/${id}`, {
          body: { title: 'x', y: 1 },
        }),
        'the cursor is malformed': world.ada.list({ cursor: 'x' }),
      };
      for (const [condition, answer] of Object.entries(conditions)) {
        assertFails(await answer, 'INVALID_PARAMS', condition);
      }
    });

    it('include FORBIDDEN for each of its conditions', async () => {
      const conditions = {
        'org-wide creates': world.acmeWide.create({ prompt: 'x' }),
        'org-wide renames': world.acmeWide.rename(published, 'x'),
        'org-wide deletes': world.acmeWide.delete(published),
        'not the creator renames': world.ben.rename(published, 'x'),
        'not the creator deletes': world.ben.delete(published),
      };
      for (const [condition, answer] of Object.entries(conditions)) {
        assertFails(await answer, 'FORBIDDEN', condition);
      }
    });

    it('include INTERNAL_ERROR with 500 when requests cannot be counted against the quota', async () => {
      await withoutQuotaStorage(async () => {
        const answer = await world.ada.list();
        assertFails(answer, 'INTERNAL_ERROR');
        assert.doesNotMatch(answer.body.error.message, /quota_use|table|SQL/i, 'the reason stays inside');
        assert.ok(answer.body.error.message.includes(answer.body.error.trace_id));
        assertFails(await world.ada.create({ prompt: 'x' }), 'INTERNAL_ERROR');
        assertFails(await world.nobody.list(), 'UNAUTHORIZED', 'who needs no count');
      });
      assert.equal((await world.ada.list()).status, 200, 'and all is well again');
    });
  });

  describe('Conditions for which other services use other statuses', () => {
    it('return NOT_FOUND for a method that a URL does not support', async () => {
      for (const [method, path] of [
        ['PUT', '/threads'],
        ['PATCH', '/threads'],
        ['DELETE', '/threads'],
        ['OPTIONS', '/threads'],
        ['POST', `/threads/${published}`],
        ['PUT', `/threads/${published}`],
        ['OPTIONS', `/threads/${published}`],
      ] as const) {
        const answer = await world.ada.call(method, path);
        assertFails(answer, 'NOT_FOUND', `${method} ${path}`);
      }
    });

    it('return NOT_FOUND for a URL that does not exist', async () => {
      for (const path of [
        '',
        '/',
        '/thread',
        '/threads/',
        '/Threads',
        `/threads/${published}/messages`,
        '//threads',
      ]) {
        assertFails(await world.ada.call('GET', path), 'NOT_FOUND', path);
      }
    });

    it('return INVALID_PARAMS for a body that is too large', async () => {
      const raw = JSON.stringify({ prompt: 'x', more: 'x'.repeat(1_048_576) });
      assertFails(await world.ada.call('POST', '/threads', { raw }), 'INVALID_PARAMS');
    });

    it('return INVALID_PARAMS for a media type that is not JSON', async () => {
      const call = { raw: '<prompt/>', headers: { 'content-type': 'application/xml' } };
      assertFails(await world.ada.call('POST', '/threads', call), 'INVALID_PARAMS');
    });

    it('return INVALID_PARAMS for a URL that is too long', async () => {
      assertFails(await world.ada.list({ unknown: 'x'.repeat(20_000) }), 'INVALID_PARAMS');
    });

    it('return INVALID_PARAMS for headers that are too large', async () => {
      assertFails(await world.ada.list({}, { 'x-filler': 'x'.repeat(20_000) }), 'INVALID_PARAMS');
    });

    it('return INVALID_PARAMS for bytes that are not HTTP', async () => {
      for (const request of [
        'What is a skein?\r\n\r\n',
        'GET /api/v1/threads HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n',
        'GET /api/v1/threads HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n',
      ]) {
        const connection = await RawConnection.open(world.service);
        connection.send(request);
        const answer = await connection.answer();
        assertEnvelope(answer);
        assert.equal(answer.status, 400, request);
        await connection.ended();
        connection.close();
      }
    });
  });
});
