import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { Api } from '../../harness/http/api.ts';
import { Service } from '../../harness/service/service.ts';
import { sharedService } from '../../harness/service/shared-service.ts';
import { describeOnEachEngine } from '../../harness/world/engines.ts';
import { makeMember, makeOrganization } from '../../harness/world/tenants.ts';
import { History, type ShownWalk } from './history.ts';

const rounds = 4;
const threadsAtFirst = 80;
const limitsOfWalkers = [3, 5, 8, 13];

describeOnEachEngine('Walks during writes from other connections and another process', ({ sharedStore }) => {
  let first: Service;
  let second: Service;
  let apis: readonly [Api, Api];

  before(async () => {
    first = await sharedService(await sharedStore());
    second = await Service.start({
      folder: first.folder,
      environment: { SKEIN_MODEL: 'scripted', ...first.store },
    });
    const { key } = await makeMember(first, await makeOrganization(first, 'Busy'), 'ada@example.com');
    apis = [new Api(first.baseUrl, key), new Api(second.baseUrl, key)];
  });
  after(() => second.end());

  it('show every thread that exists throughout exactly once, at its position at the start', async () => {
    const history = new History();
    for (let place = 0; place < threadsAtFirst; place += 1)
      await create(history, apis[place % 2 === 0 ? 0 : 1]);

    for (let round = 0; round < rounds; round += 1) {
      let walking = true;
      const writers = [
        repeat(
          () => walking,
          () => create(history, apis[0]),
        ),
        repeat(
          () => walking,
          () => rename(history, apis[1], round % 2 === 0),
        ),
        repeat(
          () => walking,
          () => rename(history, apis[0], true),
        ),
        repeat(
          () => walking,
          () => remove(history, apis[1]),
        ),
      ];
      const walks = await Promise.all(limitsOfWalkers.map((limit) => walk(apis, limit)));
      walking = false;
      await Promise.all(writers);

      for (const shown of walks) {
        const { existedThroughout, placesKnown, renamedDuring } = history.judge(shown);
        assert.ok(existedThroughout > 40, `${existedThroughout} threads were there throughout`);
        assert.ok(placesKnown > 20, `${placesKnown} threads whose place at the start is known`);
        assert.ok(renamedDuring > 0, 'threads were renamed during the walk');
      }
    }
  });
});

async function create(history: History, api: Api): Promise<void> {
  const sentAt = performance.now();
  const { status, body } = await api.create({ prompt: 'Made while others walk' });
  assert.equal(status, 201);
  history.created(body.thread, sentAt, performance.now());
}

/** Renames a thread far down the list, so that it moves out of the part that a walk has not shown yet. */
async function rename(history: History, api: Api, fromBelow: boolean): Promise<void> {
  const id = history.pickToRename(fromBelow);
  const sentAt = performance.now();
  const { status, body } = await api.rename(id, `Renamed at ${sentAt}`);
  assert.equal(status, 200);
  history.renamed(body.thread, sentAt, performance.now());
}

async function remove(history: History, api: Api): Promise<void> {
  const id = history.pickToDelete();
  const sentAt = performance.now();
  const { status } = await api.delete(id);
  assert.equal(status, 200);
  history.deleted(id, sentAt, performance.now());
  // Creates a replacement, because at this rate of deletions a walk would soon find nothing.
  await create(history, api);
}

async function repeat(goesOn: () => boolean, act: () => Promise<void>): Promise<void> {
  while (goesOn()) await act();
}

/** Requests each page from the other process, because a cursor works on both. */
async function walk(apis: readonly [Api, Api], limit: number): Promise<ShownWalk> {
  const pages: ShownWalk['pages'][number][] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const sentAt = performance.now();
    const api = apis[pages.length % 2 === 0 ? 0 : 1];
    const { status, body } = await api.list({ limit, ...(cursor !== undefined && { cursor }) });
    assert.equal(status, 200);
    pages.push({ sentAt, answeredAt: performance.now(), ids: body.threads.map(({ id }: any) => id) });
    cursor = body.nextCursor as string | null;
  }
  assert.ok(pages.length > 3, 'a walk of several pages');
  return { pages };
}
