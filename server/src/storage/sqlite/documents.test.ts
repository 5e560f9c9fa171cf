import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { newDocument, note, putDocument, strangers, World } from '../../../testing/contract/fixture.ts';
import type { DocumentId, OrganizationId } from '../../domain/id.ts';
import { documents, passagesPerCommit } from '../sql/documents.ts';
import { organizations } from '../sql/organizations.ts';
import { CommitQueue } from './commit-queue.ts';
import { type Database, openDatabase } from './database.ts';
import { openPassages, sqlitePassageIndex } from './documents.ts';
import { openSqliteStore } from './open.ts';
import { machineClock } from './store-time.ts';
import { sqliteTransactions } from './transactions.ts';

describe('The writer of documents', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-writer-'));
  const file = join(folder, 'skein.db');
  let database: Database;
  before(() => {
    database = openDatabase(file);
  });
  after(() => {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function assertFewPassagesPerCommit(sync: () => Promise<void>): Promise<void> {
    const count = database.prepare<[], number>('SELECT count(*) FROM passage').pluck();
    const changes: number[] = [];
    let last = count.get()!;
    const commits = new CommitQueue(database, machineClock, sync, {
      committed() {
        const now = count.get()!;
        changes.push(Math.abs(now - last));
        last = now;
      },
    });
    const transactions = sqliteTransactions(database, commits);
    const writer = documents(transactions, sqlitePassageIndex(database, commits));
    const organizationId = strangers.organization();
    const organization = { id: organizationId, name: 'Acme', apiEnabled: true, dailyQuota: 1 };
    await organizations(transactions).createOrganization(organization, note());
    const each = 4 * passagesPerCommit;
    const given = ['a', 'b', 'c', 'a'].map((name) =>
      newDocument({
        name,
        passages: Array.from({ length: each }, (_, index) => ({
          heading: '',
          text: `${index}`,
          terms: [`n${index}`, 'wool'],
        })),
      }),
    );
    await Promise.all(given.map((one) => putDocument(writer, organizationId, one)));
    const [, second, third] = given;
    await Promise.all([second, third].map((one) => writer.removeDocument(organizationId, one!.id, note())));
    assert.equal(
      changes.reduce((sum, change) => sum + change, 0),
      (4 + 1 + 2) * each,
    );
    assert.ok(Math.max(...changes) <= passagesPerCommit, `${Math.max(...changes)} in one commit`);
  }

  it('changes few passages per commit, however many documents are written and removed at once', () =>
    assertFewPassagesPerCommit(async () => {}));

  it('changes few passages per commit, even while durable writes wait for a slow sync', () =>
    assertFewPassagesPerCommit(() => setTimeout(5)));
});

describe('A connection that searches the same documents again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-known-'));
  const file = join(folder, 'skein.db');
  let world: World;
  let reader: ReturnType<typeof openPassages>;
  before(async () => {
    world = await World.open((clock) => openSqliteStore(file, clock));
    reader = openPassages(file);
  });
  after(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const put = async (
    organization: OrganizationId,
    name: string,
    text: string,
    accountId: string | null = null,
  ) => {
    const passages = [{ heading: '', text, terms: ['wool'] }];
    const document = newDocument({ name, accountId, passages });
    const outcome = await putDocument(world.store, organization, document, {
      within: { documentsMax: 1000, bytesMax: 1_000_000 },
    });
    return (outcome as { id: DocumentId }).id;
  };
  /** The texts that a search finds, as the reader and as the writer of the store see them. */
  async function found(organization: OrganizationId, accountId: string | null = null, limit = 500) {
    const [seen, current] = await Promise.all(
      [reader, world.store].map(async (store) => {
        const { passageCount, holders } = await store.findPassages(organization, accountId, ['wool'], limit);
        const passages = await store.readPassages(organization, accountId, holders[0]!);
        return { passageCount, texts: passages.map(({ text }) => text) };
      }),
    );
    assert.deepEqual(seen, current);
    return seen!.texts;
  }

  it('sees documents that others added, replaced or removed in the meantime', async () => {
    const organization = await world.organization();
    const other = await world.organization();
    assert.deepEqual(await found(organization), []);
    const first = await put(organization, 'one.md', 'first');
    await put(other, 'one.md', 'of another organization');
    assert.deepEqual(await found(organization), ['first']);
    assert.deepEqual(await found(organization), ['first']);
    await put(organization, 'two.md', 'of an account', 'a');
    assert.deepEqual(await found(organization), ['first']);
    assert.deepEqual(await found(organization, 'a'), ['first', 'of an account']);
    assert.deepEqual(await found(organization, 'a', 1), ['first']);
    assert.equal(await put(organization, 'one.md', 'second'), first);
    assert.deepEqual(await found(organization), ['second']);
    assert.equal(await world.store.removeDocument(organization, first, note('document.removed')), 'removed');
    assert.deepEqual(await found(organization), []);
    assert.deepEqual(await found(organization, 'a'), ['of an account']);
    assert.deepEqual(await found(other), ['of another organization']);
  });

  it('sees changes among many documents', async () => {
    const organization = await world.organization();
    const ids: DocumentId[] = [];
    for (let count = 0; count < 202; count += 1) ids.push(await put(organization, `${count}`, `${count}`));
    assert.equal((await found(organization)).length, 202);
    for (const id of [ids[201]!, ids[100]!, ids[0]!]) {
      await world.store.removeDocument(organization, id, note('document.removed'));
      const texts = await found(organization);
      assert.ok(!texts.includes(String(ids.indexOf(id))));
    }
    await put(organization, 'last', 'last');
    assert.equal((await found(organization)).at(-1), 'last');
    const holders = async () => (await reader.findPassages(organization, null, ['wool'], 500)).holders[0];
    assert.equal(await holders(), await holders(), 'they are cached');
  });

  it('reads nothing again because another organization has a long passage', async () => {
    const [small, large] = [await world.organization(), await world.organization()];
    await put(small, 'one.md', 'first');
    await put(large, 'long', 'wool '.repeat(100_000));
    const holdersIn = async (organization: OrganizationId) =>
      (await reader.findPassages(organization, null, ['wool'], 1)).holders[0]!;
    const holders = await holdersIn(small);
    assert.equal(await holdersIn(small), holders, 'they are cached');
    const long = await holdersIn(large);
    for (let round = 0; round < 40; round += 1) await reader.readPassages(large, null, long);
    assert.equal(await holdersIn(small), holders);
  });

  it('sees the same documents in all searches of one turn, and keeps nothing of a later one', async () => {
    const organization = await world.organization();
    await put(organization, 'one.md', 'first');
    const id = await put(organization, 'two.md', 'second');
    const other = new Sqlite(file);
    const setState = other.transaction((state: string) => {
      other.prepare('UPDATE document SET state = ? WHERE id = ?').run(state, id);
      other.prepare('UPDATE corpus SET stamp = stamp + 1 WHERE organization_id = ?').run(organization);
    });
    const search = async (limit: number) => {
      const { holders } = await reader.findPassages(organization, null, ['wool'], limit);
      return (await reader.readPassages(organization, null, holders[0]!)).length;
    };
    setState('writing');
    const before = search(500);
    setState('ready');
    assert.deepEqual(await Promise.all([before, search(400)]), [1, 1]);
    await setImmediate();
    assert.equal(await search(400), 2, 'the next turn sees the document');
    await world.store.removeDocument(organization, id, note('document.removed'));
    const after = await reader.findPassages(organization, null, ['wool'], 400);
    const passages = await reader.readPassages(organization, null, after.holders[0]!);
    assert.deepEqual(
      passages.map(({ text }) => text),
      ['first'],
    );
    other.close();
  });
});
