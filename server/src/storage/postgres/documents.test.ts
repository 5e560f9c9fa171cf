import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { passage } from '../../../testing/contract/document-fixture.ts';
import { newDocument, putDocument, World } from '../../../testing/contract/fixture.ts';
import { openTestDatabase, poolSettings } from '../../../testing/contract/postgres-database.ts';
import { openPostgresStore } from './open.ts';

describe('A node that searches the same documents again', () => {
  let database: Awaited<ReturnType<typeof openTestDatabase>>;
  let world: World;
  before(async () => {
    database = await openTestDatabase();
    world = await World.open((clock) => openPostgresStore(database.url, poolSettings, clock));
  });
  after(async () => {
    await world.close();
    await database.close();
  });

  it('looks up each term once, until a document changes', async () => {
    const { store } = world;
    const organization = await world.organization();
    const put = (name: string, accountId: string | null) => {
      const passages = [passage(name, 'wool')];
      return putDocument(store, organization, newDocument({ name, accountId, passages }));
    };
    const holders = async (...terms: string[]) =>
      (await store.findPassages(organization, 'acc', terms, 10)).holders;
    await put('general.md', null);
    const [found, none] = await holders('wool', 'silk');
    assert.deepEqual([found!.length, none!.length], [1, 0]);
    const again = await holders('silk', 'linen', 'wool');
    assert.equal(again[0], none);
    assert.equal(again[2], found, 'it is cached');
    await put('account.md', 'acc');
    assert.equal((await holders('wool'))[0]!.length, 2);
  });
});
