import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { type SettingsWorld, sharedSettingsWorld } from '../../../harness/console/settings-world.ts';
import { assertDone, assertRefused } from '../../../harness/console/visitor.ts';
import { Api } from '../../../harness/http/api.ts';
import { eventually } from '../../../harness/service/eventually.ts';
import { describeOnEachEngine } from '../../../harness/world/engines.ts';

describeOnEachEngine('The request log in the console', (engine) => {
  let world: SettingsWorld;
  let api: Api;
  let key: { id: string; key: string };
  before(async () => {
    world = await sharedSettingsWorld(await engine.sharedStore());
    key = assertDone(await world.ada.post('/keys', { name: 'Laptop', scope: 'personal' }), 201);
    api = new Api(world.service.baseUrl, key.key);
  });

  const sendBody = (body: string | Buffer<ArrayBuffer>) =>
    fetch(`${world.service.baseUrl}/api/v1/threads/thr_any`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${key.key}`, 'content-type': 'application/json' },
      body,
    });
  const list = async (query = '') => assertDone(await world.ada.get(`/requests${query}`));
  const listed = (count: number, query = ''): Promise<any> =>
    eventually(
      () => list(query),
      ({ requests }) => requests.length >= count,
    );

  it('shows every authenticated request with its operation, status, credential and error, and no secret', async () => {
    const prompt = 'What does the secret prompt say?';
    const made = await api.create({ prompt });
    await api.list();
    const missing = await api.get('thr_missing');
    const invalid = await api.call('PATCH', `/threads/${made.body.thread.id}`, { body: { prompt } });
    await new Api(world.service.baseUrl, `${key.key.slice(0, -1)}!`).list();
    const { requests, nextCursor, keptDays } = await listed(4);
    assert.deepEqual(
      requests.map(({ operation, status, error }: any) => [operation, status, error]),
      [
        ['renameThread', 400, readError(invalid)],
        ['getThread', 404, readError(missing)],
        ['listThreads', 200, null],
        ['createThread', 201, null],
      ],
    );
    for (const { credential, ms, at } of requests) {
      assert.deepEqual(credential, { id: key.id, kind: 'key', name: 'Laptop' });
      assert.ok(ms > 0 && ms < 60_000 && Math.abs(Date.parse(at) - Date.now()) < 60_000);
    }
    assert.deepEqual([nextCursor, keptDays], [null, 7]);
    const text = JSON.stringify(requests);
    for (const secret of [prompt, key.key, made.body.thread.id]) assert.ok(!text.includes(secret), secret);
  });

  it('stores no text from the caller, whatever keys a body has, and continues with later requests', async () => {
    const key = 'k'.repeat(1000);
    const bodies = [
      '{"title":"a","secret\\u0000":1}',
      `{"title":"a","${'x'.repeat(63)}🧶":1}`,
      `{"${key}":1,"${key}":1}`,
      Buffer.concat([Buffer.from(`{"${key}":"`), Buffer.from([0xff]), Buffer.from('"}')]),
    ];
    const errors: any[] = [];
    for (const body of bodies) {
      const answer = await sendBody(body);
      assert.equal(answer.status, 400);
      errors.push(((await answer.json()) as any).error);
    }
    for (const error of errors) {
      assert.ok(error.message.length < 300, error.message);
      const { requests } = await listed(1, `?traceId=${error.trace_id}`);
      assert.match(
        requests[0].error.message,
        /^(Unknown field|Duplicate field|Request body is not valid UTF-8)\.$/,
      );
    }
    const { body } = await api.get('thr_later');
    await listed(1, `?traceId=${body.error.trace_id}`);
  });

  it('finds a request by the trace ID of its error, and filters by status, operation, credential and day', async () => {
    const { body } = await api.get('thr_unknown');
    const { trace_id: traceId } = body.error;
    const { requests } = await listed(1, `?traceId=${traceId}`);
    assert.deepEqual([requests.length, requests[0].id, requests[0].error.code], [1, traceId, 'NOT_FOUND']);
    const listOperations = async (query: string) =>
      new Set((await list(query)).requests.map(({ operation }: any) => operation));
    assert.deepEqual(await listOperations('?status=2xx&operation=createThread'), new Set(['createThread']));
    const failures = (await list('?status=4xx')).requests;
    assert.ok(failures.length >= 3 && failures.every(({ status }: any) => status >= 400 && status < 500));
    const missing = (await list('?status=NOT_FOUND')).requests;
    assert.ok(missing.length >= 1 && missing.length < failures.length);
    assert.ok(missing.every(({ error }: any) => error.code === 'NOT_FOUND'));
    assert.equal((await list(`?credentialId=${key.id}`)).requests.length > 3, true);
    assert.deepEqual((await list('?credentialId=key_other')).requests, []);
    const today = new Date().toISOString().slice(0, 10);
    assert.ok((await list(`?from=${today.slice(0, 4)}-01-01&to=2999-12-31`)).requests.length > 3);
    assert.deepEqual((await list('?to=2020-01-01')).requests, []);
  });

  it('is paged, and rejects a cursor of another filter and invalid filters', async () => {
    const all = (await list('?limit=100')).requests.map(({ id }: any) => id);
    const walked: string[] = [];
    let cursor: string | null = null;
    do {
      const page: any = await list(`?limit=2${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`);
      walked.push(...page.requests.map(({ id }: any) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    assert.deepEqual(walked, all);
    const { nextCursor } = await list('?limit=1');
    const foreign = encodeURIComponent(nextCursor);
    for (const query of [
      `status=4xx&cursor=${foreign}`,
      'cursor=x',
      'status=7xx',
      'from=yesterday',
      'from=2026-99-99',
      'limit=0',
      'operation=%00',
    ]) {
      assertRefused(await world.ada.get(`/requests?${query}`), 400);
    }
    assertRefused(await world.eve.get(`/requests?limit=1&cursor=${foreign}`), 400);
  });

  it('is for admins of the organization only', async () => {
    const { requests } = await listed(1);
    assertRefused(await world.ben.get('/requests'), 403);
    assert.deepEqual(assertDone(await world.eve.get('/requests')).requests, []);
    assert.deepEqual(assertDone(await world.eve.get(`/requests?traceId=${requests[0].id}`)).requests, []);
  });
});

const readError = ({ body }: any) => ({ code: body.error.code, message: body.error.message });
