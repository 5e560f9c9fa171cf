import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import Sqlite from 'better-sqlite3';
import type { OrganizationId } from '../../domain/id.ts';
import { ReadThread } from './read-thread.ts';

describe('The read thread', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-reads-'));
  const file = join(folder, 'x.db');
  const [greedy, modest] = ['org_a', 'org_b'] as OrganizationId[] as [OrganizationId, OrganizationId];
  before(() => new Sqlite(file).exec('CREATE TABLE t (n)').close());
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('lets organizations take turns, and limits how many queries of one are waiting', async () => {
    const reads = new ReadThread(file);
    const answered: string[] = [];
    const ask = (organizationId: OrganizationId, name: string) =>
      reads.all<[string]>(organizationId, 'SELECT :name', { name }).then(([row]) => answered.push(row![0]));
    const asked = Array.from({ length: 9 }, (_, place) => ask(greedy, `a${place}`));
    const tooMany = { code: 'RATE_LIMITED', message: /8 searches waiting/ };
    await assert.rejects(ask(greedy, 'a9'), tooMany);
    await Promise.all([...asked, ask(modest, 'b0'), ask(modest, 'b1')]);
    assert.deepEqual(answered.slice(0, 5), ['a0', 'a1', 'b0', 'a2', 'b1']);
    assert.equal(answered.length, 11);
    await ask(greedy, 'a9');
    await reads.close();
  });

  it('continues after a query that fails, and rejects all that wait when it is closed', async () => {
    const reads = new ReadThread(file);
    const failing = reads.all(greedy, 'SELECT missing', {});
    const next = reads.all(greedy, 'SELECT 1', {});
    await assert.rejects(failing, /missing/);
    assert.deepEqual(await next, [[1]]);
    const asked = Promise.allSettled([1, 2, 3].map(() => reads.all(greedy, 'SELECT 1', {})));
    await reads.close();
    for (const { status } of await asked) assert.equal(status, 'rejected');
    await assert.rejects(reads.all(modest, 'SELECT 1', {}), /was closed/);
  });
});
