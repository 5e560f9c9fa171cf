import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { sharedWorld, type World } from '../../harness/world/world.ts';

describe('Versioning', () => {
  let world: World;
  before(async () => {
    world = await sharedWorld();
  });

  const fetchStatus = async (path: string): Promise<number> => {
    const headers = { authorization: `Bearer ${world.adaKey.key}` };
    const answer = await fetch(`${world.service.baseUrl}${path}`, { headers });
    await answer.text();
    return answer.status;
  };

  it('has the version in the path: the endpoints are under /api/v1 and nowhere else', async () => {
    assert.equal(await fetchStatus('/api/v1/threads'), 200);
    for (const path of [
      '/api/threads',
      '/api/v2/threads',
      '/api/v10/threads',
      '/v1/threads',
      '/api/V1/threads',
    ]) {
      assert.equal(await fetchStatus(path), 404, path);
    }
  });

  it('has exactly five operations under /api/v1', async () => {
    const { paths } = (await (await fetch(`${world.service.baseUrl}/openapi.json`)).json()) as any;
    const operations = Object.entries<object>(paths)
      .filter(([path]) => path.startsWith('/api/v1/'))
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`));
    assert.deepEqual(operations.sort(), [
      'delete /api/v1/threads/{id}',
      'get /api/v1/threads',
      'get /api/v1/threads/{id}',
      'patch /api/v1/threads/{id}',
      'post /api/v1/threads',
    ]);
    for (const [method, path] of [
      ['POST', '/threads/x/publish'],
      ['GET', '/threads/x/messages'],
      ['POST', '/threads/x/messages'],
      ['GET', '/events'],
      ['GET', '/threads/x/events'],
    ] as const) {
      assert.equal((await world.ada.call(method, path)).status, 404, `${method} ${path}`);
    }
  });
});
