import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { OrganizationId } from '../../src/domain/id.ts';
import type { NewDocument } from '../../src/storage/port/store.ts';
import { passagesPerCommit } from '../../src/storage/sql/documents.ts';
import { passage, textsWith } from './document-fixture.ts';
import { newDocument, note, putDocument, type World } from './fixture.ts';

export function describeLargeDocuments(world: () => World): void {
  describe('documents of many passages', () => {
    const many = 3 * passagesPerCommit + 1;
    const large = (text: string, change: Partial<NewDocument> = {}) =>
      newDocument({ passages: Array.from({ length: many }, () => passage(text, 'wool')), ...change });

    /** The numbers of passages and documents that readers see while `work` runs. */
    async function seenDuring(organization: OrganizationId, work: Promise<unknown>) {
      const { store } = world();
      const [found, listed] = [new Set<number>(), new Set<number>()];
      let isDone = false;
      const ended = work.finally(() => {
        isDone = true;
      });
      while (!isDone) {
        found.add((await store.findPassages(organization, null, ['wool'], 1_000)).holders[0]!.length);
        listed.add((await store.listDocuments(organization)).length);
        await turn();
      }
      await ended;
      return { found: [...found].sort(), listed: [...listed] };
    }

    it('appear, are replaced and disappear as a whole', async () => {
      const { store } = world();
      const organization = await world().organization();
      const other = newDocument({ name: 'other', passages: [passage('other', 'wool')] });
      await putDocument(store, organization, other);
      const put = (text: string) => putDocument(store, organization, large(text));
      const only = (seen: readonly number[], ...allowed: number[]) =>
        assert.ok(seen.length > 0 && seen.every((count) => allowed.includes(count)), `${seen}`);
      const adding = await seenDuring(organization, put('first'));
      only(adding.found, 1, many + 1);
      only(adding.listed, 1, 2);
      const replacing = await seenDuring(organization, put('second'));
      only(replacing.found, many + 1);
      only(replacing.listed, 2);
      const [texts] = await textsWith(store, organization, null, 'wool');
      assert.ok(!texts!.includes('first') && texts!.includes('second'));
      const { id } = (await store.listDocuments(organization)).find(({ name }) => name !== 'other')!;
      const removing = await seenDuring(organization, store.removeDocument(organization, id, note()));
      only(removing.found, 1, many + 1);
      only(removing.listed, 1, 2);
      assert.deepEqual(await textsWith(store, organization, null, 'wool'), [['other']]);
      assert.equal((await store.findPassages(organization, null, [], 10)).passageCount, 1);
      assert.equal(await store.sweepDocuments(), 0);
    });

    it('leave nothing if a part cannot be written', async () => {
      const { store } = world();
      const organization = await world().organization();
      const document = large('broken');
      Object.defineProperty(document.passages[many - 1], 'text', {
        get() {
          throw new Error('no more');
        },
      });
      await assert.rejects(putDocument(store, organization, document), /no more/);
      assert.deepEqual(await store.listDocuments(organization), []);
      assert.deepEqual((await store.findPassages(organization, null, ['wool'], 1_000)).holders, [[]]);
      assert.equal(await store.sweepDocuments(), 0);
    });

    it('are never visible if their writer dies, and are swept a minute later', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const node = await world().node();
      const document = large('unfinished', { name: 'unfinished' });
      const halfway = new Promise<void>((resolve) => {
        Object.defineProperty(document.passages[passagesPerCommit + 1], 'heading', {
          get() {
            resolve();
            return '';
          },
        });
      });
      const writing = assert.rejects(putDocument(node, organization, document));
      await halfway;
      await world().end(node);
      await writing;
      assert.deepEqual(await store.listDocuments(organization), []);
      assert.deepEqual((await store.findPassages(organization, null, ['wool'], 1_000)).holders, [[]]);
      assert.equal(await store.sweepDocuments(), 0, 'it may still be in progress');
      clock.pass(60_001);
      const swept = await store.sweepDocuments();
      assert.ok(swept >= passagesPerCommit && swept < many, `${swept} passages`);
      assert.equal(await store.sweepDocuments(), 0);
    });
  });
}
