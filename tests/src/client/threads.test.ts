import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Skein } from '../../../client/src/index.ts';
import { startWorld, type World } from '../../harness/world/world.ts';
import { FaultyProxy } from './faulty-proxy.ts';
import { type Client, packedClient } from './packed.ts';

describe("The client's threads", () => {
  let world: World;
  let proxy: FaultyProxy;
  let client: Client;
  let threads: Skein['threads'];
  before(async () => {
    world = await startWorld({ SKEIN_PAGINATION_WINDOW: '5' });
    proxy = await FaultyProxy.start(world.service.baseUrl);
    client = await packedClient();
    threads = openThreads(world.adaKey.key);
  });
  after(async () => {
    await proxy.close();
    await world.end();
  });

  const openThreads = (apiKey: string, baseUrl = world.service.baseUrl) =>
    new client.Skein({ baseUrl, apiKey }).threads;
  const fill = async (accountId: string, count: number): Promise<string[]> => {
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1) {
      ids.unshift((await threads.create({ prompt: `Hello ${index}`, accountId })).thread.id);
    }
    return ids;
  };

  it('support every operation of the API', async () => {
    const created = await threads.create({ prompt: 'What is a skein?', title: 'Yarn', secondaryId: 'opp_1' });
    const { thread, messages, status, etag } = await threads.get(created.thread.id, { waitSeconds: 20 });
    const { body } = await world.ada.get(thread.id);
    assert.deepEqual({ thread, messages, status }, body);
    assert.deepEqual(
      messages.map(({ id }) => id),
      [created.messageId, created.responseMessageId],
    );
    assert.equal(await threads.get(thread.id, { etag }), null);
    const renamed = await threads.rename(thread.id, 'Wool');
    assert.deepEqual(renamed, (await world.ada.get(thread.id)).body.thread);
    assert.equal((await threads.get(thread.id, { etag }))?.thread.title, 'Wool');
    assert.deepEqual(await threads.delete(thread.id), { id: thread.id, deleted: true });
    await assert.rejects(threads.get(thread.id), client.NotFoundError);
  });

  it('are found at a base URL with and without /api/v1', async () => {
    for (const [baseUrl, expected] of [
      ['https://skein.example', 'https://skein.example'],
      ['https://skein.example/api/v1', 'https://skein.example'],
      ['https://skein.example/api/v1/', 'https://skein.example'],
      ['https://proxy.example/skein/api/v1', 'https://proxy.example/skein'],
      ['https://proxy.example/my-api/v1', 'https://proxy.example/my-api/v1'],
    ] as const) {
      const urls: string[] = [];
      const fetch = async (url: string) => {
        urls.push(url);
        return Response.json({ access_token: 'at_1', token_type: 'Bearer', expires_in: 60 });
      };
      const credentials = { clientId: 'app_1', clientSecret: 'eas_1' };
      const skein = new client.Skein({ baseUrl, ...credentials, fetch, retries: 0 });
      await assert.rejects(skein.threads.get('thr_1'), client.UnexpectedResponseError);
      assert.deepEqual(urls, [`${expected}/oauth2/token`, `${expected}/api/v1/threads/thr_1`]);
    }
    assert.ok(
      Array.isArray(
        (await openThreads(world.adaKey.key, `${world.service.baseUrl}/api/v1/`).list().page()).threads,
      ),
    );
  });

  it('hold a read only if requested', async () => {
    const address = proxy.address();
    const { thread } = await threads.create({ prompt: '#wait 2000\n#say Late.' });
    const there = openThreads(world.adaKey.key, address);
    assert.equal((await there.get(thread.id)).status.state, 'in_progress');
    assert.equal((await there.get(thread.id, { waitSeconds: 20 })).status.state, 'idle');
    await there.get(thread.id, { waitSeconds: 0.5 });
    for (const waitSeconds of [-100, Number.NaN, 1e9, Number.POSITIVE_INFINITY])
      await there.get(thread.id, { waitSeconds });
    assert.deepEqual(
      proxy.requestsTo(address).map(({ headers }) => headers.prefer),
      [undefined, 'wait=20', 'wait=1', undefined, undefined, 'wait=25', 'wait=25'],
      'and by whole seconds, for it knows no others',
    );
  });

  it('are listed one by one, page by page, or from a cursor', async () => {
    const made = await fill('acct_walk', 5);
    const address = proxy.address();
    const list = openThreads(world.adaKey.key, address).list({ accountId: 'acct_walk', limit: 2 });
    assert.equal(proxy.requestsTo(address).length, 0, 'nothing is asked for before it is walked');
    for (const _ of ['first', 'second']) {
      const walked: string[] = [];
      for await (const { id } of list) walked.push(id);
      assert.deepEqual(walked, made);
    }
    const pages: string[][] = [];
    for await (const page of list.pages()) pages.push(page.threads.map(({ id }) => id));
    assert.deepEqual(pages, [made.slice(0, 2), made.slice(2, 4), made.slice(4)]);
    const first = await list.page();
    const second = await list.page(first.nextCursor as string);
    assert.deepEqual(
      second.threads.map(({ id }) => id),
      made.slice(2, 4),
    );
    const rest: string[] = [];
    for await (const page of list.pages(first.nextCursor as string)) {
      rest.push(...page.threads.map(({ id }) => id));
    }
    assert.deepEqual(rest, made.slice(2));
    assert.equal(first.truncated, false);
  });

  it('are fetched only as far as the caller iterates, in large pages', async () => {
    await fill('acct_break', 3);
    const address = proxy.address();
    const there = openThreads(world.adaKey.key, address);
    for await (const _ of there.list({ accountId: 'acct_break', limit: 1 })) break;
    for await (const _ of there.list({ accountId: 'acct_break' })) break;
    await there.list({ accountId: 'acct_break' }).page();
    assert.deepEqual(
      proxy.requestsTo(address).map(({ path }) => path),
      ['limit=1&', 'limit=100&', ''].map((limit) => `/api/v1/threads?${limit}accountId=acct_break`),
    );
  });

  it('report when there are more than a walk can reach', async () => {
    const made = await fill('acct_many', 7);
    const pages = [];
    for await (const page of threads.list({ accountId: 'acct_many', limit: 3 }).pages()) pages.push(page);
    const walked = pages.flatMap((page) => page.threads.map(({ id }) => id));
    assert.deepEqual(walked, made.slice(0, 5));
    assert.ok(pages.some(({ truncated }) => truncated));
  });

  it('reject a cursor from another listing', async () => {
    await assert.rejects(threads.list().page('nonsense'), client.InvalidParamsError);
  });

  it('are limited to what the credential may read and change', async () => {
    const { thread } = await threads.create({ prompt: 'Private' });
    const ben = openThreads(world.benKey.key);
    await assert.rejects(ben.get(thread.id), client.NotFoundError);
    await world.publish(thread.id);
    assert.equal((await ben.get(thread.id)).thread.id, thread.id);
    await assert.rejects(ben.rename(thread.id, 'Mine'), client.ForbiddenError);
    await assert.rejects(ben.delete(thread.id), { code: 'FORBIDDEN', status: 403 });
    await assert.rejects(openThreads(world.wideKey.key).create({ prompt: 'x' }), client.ForbiddenError);
  });

  it('pass ids and texts unchanged', async () => {
    const address = proxy.address();
    const there = openThreads(world.adaKey.key, `${address}/`);
    await assert.rejects(there.get('../keys?x=1#y'), client.NotFoundError);
    assert.equal(proxy.requestsTo(address)[0]?.path, '/api/v1/threads/..%2Fkeys%3Fx%3D1%23y');
    const accountId = 'a&b=c d/ü😀';
    const { thread } = await there.create({ prompt: 'Ü 😀\u2028', accountId });
    assert.deepEqual(
      (await there.list({ accountId }).page()).threads.map(({ id }) => id),
      [thread.id],
    );
    assert.equal((await there.get(thread.id)).messages[0]?.content, 'Ü 😀\u2028');
  });

  it('are requested with a User-Agent', async () => {
    const address = proxy.address();
    const { Skein } = client;
    const apiKey = world.adaKey.key;
    await new Skein({ baseUrl: address, apiKey }).threads.list().page();
    await new Skein({ baseUrl: address, apiKey, userAgent: 'reports/2' }).threads.list().page();
    const names = proxy.requestsTo(address).map(({ headers }) => headers['user-agent']);
    assert.match(names[0] ?? '', /^skein-client\/\d+\.\d+\.\d+$/);
    assert.equal(names[1], 'reports/2');
  });
});
