import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { by, completed, newDocument, noteBy, putDocument, World } from '../../../testing/contract/fixture.ts';
import { archiveTables } from '../port/archive.ts';
import { purgeOrder, rowsOfPerson } from '../sql/purge.ts';
import { openDatabase } from './database.ts';
import { openSqliteStore } from './open.ts';

describe('A purge of the SQLite store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-purge-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('covers every table that belongs to an organization or a person', () => {
    const names = archiveTables.map(({ name }) => name);
    assert.deepEqual(Object.keys(rowsOfPerson).sort(), names.sort());
    for (const { name, columns } of archiveTables) {
      assert.equal(purgeOrder.includes(name), 'organization_id' in columns, name);
      const isPersons = 'user_id' in columns && !('organization_id' in columns);
      if (isPersons) assert.notEqual(rowsOfPerson[name], null, name);
    }
  });

  it('leaves no trace of the removed rows in the file', async () => {
    const file = join(folder, 'skein.db');
    const world = await World.open((clock) => openSqliteStore(file, clock));
    const [acme, globex] = [await world.organization({ name: 'Acme of Lisbon' }), await world.organization()];
    for (const organization of [acme, globex]) {
      const owner = organization === acme ? 'purged' : 'stayed';
      const userId = await world.member(organization, `${owner}-person@example.org`);
      for (let turn = 0; turn < 40; turn += 1) {
        const prompt = `${owner}-prompt ${turn} `.repeat(turn % 4 === 0 ? 1000 : 1);
        const { id } = await world.thread(organization, userId, { title: `${owner}-title`, prompt });
        if (turn % 3 === 0) await world.store.deleteThread(organization, id, noteBy(userId));
      }
      const text = `${owner}-passage`;
      const terms = [`${owner}term`];
      for (let turn = 0; turn < 20; turn += 1) {
        const passages = [{ heading: text, text, terms }];
        await putDocument(world.store, organization, newDocument({ name: `${turn}`, passages }));
      }
    }
    const bytes = () =>
      [file, `${file}-wal`].map((each) => (existsSync(each) ? readFileSync(each, 'latin1') : '')).join();
    const traces = ['person@', 'prompt', 'title', 'passage', 'term'].map(
      (trace) => new RegExp(`purged-?${trace}`),
    );
    for (const trace of traces) assert.match(bytes(), trace);
    while (!(await world.store.purgeOrganization(acme)).done);
    const reader = openDatabase(file);
    reader.exec('BEGIN; SELECT count(*) FROM thread');
    assert.equal(await world.store.finishPurge(100), false, 'while somebody reads the journal');
    reader.close();
    assert.equal(await world.store.finishPurge(5_000), true);
    for (const trace of [...traces, /Acme of Lisbon/]) assert.doesNotMatch(bytes(), trace);
    assert.match(bytes(), /stayed-prompt/);
    assert.equal((await world.store.findPassages(globex, null, ['stayedterm'], 50)).holders[0]?.length, 20);
    await world.close();
  });

  it('leaves no trace of texts and index entries that were replaced before', async () => {
    const file = join(folder, 'replaced.db');
    const world = await World.open((clock) => openSqliteStore(file, clock));
    const { store } = world;
    const [acme, globex] = [await world.organization(), await world.organization()];
    const userId = await world.member(acme);
    const { id } = await world.thread(acme, userId);
    const [claim] = await world.claim(60_000);
    const content = 'replaced-draft '.repeat(2000);
    assert.equal(
      await store.recordReplyProgress(claim!, { status: 'in_progress', content, steps: [] }),
      true,
    );
    assert.equal(await store.settleReply(claim!, { ...completed, content: 'Short.' }), true);
    const { thread, version } = (await store.getThreadHead(acme, id))!;
    const terms = Array.from({ length: 2000 }, (_, index) => `replacedterm${index}`);
    for (const each of [terms, ['short']]) {
      await store.renameThread(acme, id, each[0]!, by(userId));
      const [due] = await store.takeUnindexed(1);
      const entry = { thread, version, state: 'idle', line: '', terms: each } as const;
      await store.indexThreads([{ due: due!, entry }]);
    }
    while (!(await store.purgeOrganization(acme)).done);
    assert.equal(await store.finishPurge(5_000), true);
    const bytes = readFileSync(file, 'latin1');
    assert.deepEqual(bytes.match(/replaced-?(?:draft|term)/g), null);
    assert.ok(bytes.includes(globex));
    await world.close();
  });
});
