import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, it } from 'node:test';
import {
  createModel,
  type Model,
  openIsolatedModel,
  openModelThreads,
  type PassageStore,
} from '../../answers/src/index.ts';
import { openLibrary } from '../testing/library-fixture.ts';
import type { DocumentId } from './domain/id.ts';
import { defaultLimits } from './domain/limits.ts';
import { openSqliteStore } from './storage/sqlite/open.ts';

const unread: PassageStore = {
  findPassages: () => assert.fail('nothing is searched'),
  readPassages: () => assert.fail('nothing is read'),
  outlineDocuments: () => assert.fail('nothing is outlined'),
};

const removedNote = {
  id: 'evt_removed',
  authority: { kind: 'operator' },
  traceId: 'threads',
  action: 'document.removed',
  subject: 'doc_Returns',
  detail: {},
} as const;

/** A SQLite store with one document, and how threads and processes read its file. */
async function openReturns() {
  let file = '';
  const openStore = (path: string) => {
    file = path;
    return openSqliteStore(path);
  };
  const library = await openLibrary(openStore, [{ title: 'Returns', passages: ['Refunds take 30 days.'] }]);
  const module = import.meta.resolve('./storage/sqlite/documents.ts');
  return { ...library, file, passages: { module, location: file } };
}

describe('Threads and processes that read a SQLite store', () => {
  it('read documents through their own connections, and close them before the store', async () => {
    const { store, organizationId, file, passages } = await openReturns();
    const threads = await openModelThreads({ store: unread, threads: 1, passages });
    const { signal } = new AbortController();
    const search = () => threads.search(organizationId, null, 'refunds', 1, signal);
    assert.equal((await search()).passages[0]?.text, 'Refunds take 30 days.');
    await store.removeDocument(organizationId, 'doc_Returns' as DocumentId, removedNote);
    assert.deepEqual(await search(), { searched: 0, passages: [] });
    await threads.close();
    assert.ok(existsSync(`${file}-wal`), 'the store still has its journal');
    await store.close();
    assert.equal(existsSync(`${file}-wal`), false, 'the last connection to a file removes its journal');
    rmSync(dirname(file), { recursive: true });
  });

  it('write the same reply with their own connection as the service does', async () => {
    const { store, organizationId, passages, close } = await openReturns();
    const model = { kind: 'extractive', name: 'extractive' } as const;
    const settings = { model, limits: defaultLimits, threads: 1, passages };
    const conversation = [{ role: 'user', content: 'How long do refunds take?' } as const];
    const { signal } = new AbortController();
    const ask = async (model: Model) => {
      const request = { organizationId, accountId: null, conversation, attempt: 1, signal };
      try {
        return await Array.fromAsync(model.reply(request));
      } finally {
        await model.close?.();
      }
    };
    const traceHeaders = () => ({});
    const expected = await ask(await createModel({ ...settings, passages: undefined }, store, traceHeaders));
    assert.ok(expected.some((event) => event.type === 'sources' && event.sources.length === 1));
    assert.deepEqual(await ask(await createModel(settings, unread, traceHeaders)), expected);
    const { name } = model;
    assert.deepEqual(
      await ask(await openIsolatedModel({ name, settings, store: unread, traceHeaders })),
      expected,
    );
    await close();
  });
});
