import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type pg from 'pg';
import { fakeHash, note, strangers, type World } from '../../../testing/contract/fixture.ts';
import { openPostgresWorld } from '../../../testing/contract/postgres-world.ts';

const day = 20_000;

describe('A request whose key was revoked while another request with the key is being admitted', () => {
  it('is refused', async () => {
    const { operator, world, untilWaiting, close } = await openPostgresWorld();
    const { store } = world;
    const organization = await world.organization();
    const key = {
      id: strangers.key(),
      name: '',
      userId: null,
      hash: fakeHash(1),
      hint: '',
      createdBy: null,
    };
    await store.createApiKey(organization, key, note());
    assert.ok(await store.admitKey(key.hash, day));
    await operator.query('BEGIN');
    await operator.query('SELECT FROM quota_use FOR UPDATE');
    const first = store.admitKey(key.hash, day);
    await untilWaiting();
    await store.revokeApiKey(organization, key.id, note());
    const second = store.admitKey(key.hash, day);
    await operator.query('ROLLBACK');
    await first;
    assert.equal(await second, undefined);
    await close();
  });
});

describe('Quota counts that were lost with a database server', () => {
  let operator: pg.Client;
  let world: World;
  let close: () => Promise<void>;
  before(async () => {
    ({ operator, world, close } = await openPostgresWorld());
  });
  after(() => close?.());

  /** What a standby without the last commits has. */
  const loseCounts = (change: string) => operator.query(change);

  it('are still known to the node that served the requests', async () => {
    const organization = await world.organization({ dailyQuota: 10 });
    await Promise.all(Array.from({ length: 8 }, () => world.use(organization, day)));
    await loseCounts('UPDATE quota_use SET used = 3');
    const uses = await Promise.all([1, 2, 3, 4].map(() => world.use(organization, day)));
    assert.deepEqual(
      uses.map(({ granted, remaining }) => [granted, remaining]),
      [
        [true, 1],
        [true, 0],
        [false, 0],
        [false, 0],
      ],
    );
  });

  it('are counted again when the row of the day is gone', async () => {
    const organization = await world.organization({ dailyQuota: 10 });
    await Promise.all(Array.from({ length: 8 }, () => world.use(organization, day)));
    await loseCounts('DELETE FROM quota_use');
    assert.equal((await world.use(organization, day)).remaining, 1);
    assert.equal((await world.use(organization, day + 1)).remaining, 9);
    assert.equal((await world.use(organization, day)).remaining, 0);
  });

  it('stay counted after rejected requests, even for another node', async () => {
    const organization = await world.organization({ dailyQuota: 3 });
    for (let count = 0; count < 6; count += 1) await world.use(organization, day);
    await loseCounts('UPDATE quota_use SET used = 0');
    assert.deepEqual(await world.use(organization, day), { granted: false, limit: 3, remaining: 0 });
    const second = await world.node();
    assert.deepEqual(await world.use(organization, day, second), { granted: false, limit: 3, remaining: 0 });
  });
});
