import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { by, World } from '../../../testing/contract/fixture.ts';
import type { OrganizationId, ThreadId, UserId } from '../../domain/id.ts';
import { openDatabase } from './database.ts';
import { openSqliteStore } from './open.ts';
import { WatchedCache } from './watched-cache.ts';

const folder = mkdtempSync(join(tmpdir(), 'skein-cache-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

function nextFile(): string {
  files += 1;
  return join(folder, `${files}.db`);
}

describe('The embedded store', () => {
  async function open(cacheBytes: number) {
    const file = nextFile();
    const world = await World.open((clock) => openSqliteStore(file, clock, undefined, cacheBytes));
    after(() => world.close());
    const organizationId = await world.organization();
    const userId = await world.member(organizationId);
    return { world, organizationId, userId };
  }
  const read = (world: World, organizationId: OrganizationId, id: ThreadId, userId: UserId) =>
    world.store.getThread(organizationId, id, { userId });

  it('reads a change of another node in the same turn in which it was committed', async () => {
    const { world, organizationId, userId } = await open(1_000_000);
    const { id } = await world.thread(organizationId, userId);
    const other = await world.node();
    for (let round = 0; round < 20; round += 1) {
      await read(world, organizationId, id, userId);
      const counted = world.use(organizationId, 1);
      await other.renameThread(organizationId, id, `Title ${round}`, by(userId));
      assert.equal((await read(world, organizationId, id, userId))?.thread.title, `Title ${round}`);
      await counted;
    }
  });

  it('keeps nothing if the cache size is 0', async () => {
    const { world, organizationId, userId } = await open(0);
    const { id } = await world.thread(organizationId, userId);
    const first = await read(world, organizationId, id, userId);
    const second = await read(world, organizationId, id, userId);
    assert.deepEqual(first, second);
    assert.notEqual(first, second);
  });
});

describe('WatchedCache', () => {
  function openCache(bytesMax: number): WatchedCache {
    const database = openDatabase(nextFile());
    after(() => database.close());
    return new WatchedCache(database, bytesMax);
  }

  it('stays within its size, and keeps objects that were used', () => {
    const cache = openCache(1000);
    const used = cache.set('used', {}, 100);
    for (let number = 0; number < 100; number += 1) {
      assert.equal(cache.get('used'), used);
      cache.set(`${number}`, {}, 100);
      assert.ok(cache.bytes <= 1000);
    }
    assert.equal(cache.bytes, 1000);
    assert.ok(cache.get('99'));
    assert.equal(cache.get('50'), undefined);
  });

  it('does not keep an object that would displace many others', () => {
    const cache = openCache(1000);
    const kept = cache.set('small', {}, 10);
    cache.set('large', {}, 126);
    assert.equal(cache.get('large'), undefined);
    assert.equal(cache.get('small'), kept);
    assert.equal(cache.bytes, 10);
  });

  it('counts an object that replaces another once', () => {
    const cache = openCache(1000);
    cache.set('one', {}, 100);
    cache.set('one', {}, 50);
    assert.equal(cache.bytes, 50);
  });
});
