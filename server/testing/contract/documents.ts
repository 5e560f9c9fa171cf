import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defaultLimits } from '../../src/domain/limits.ts';
import { passagesPerCommit } from '../../src/storage/sql/documents.ts';
import { bySession, oneMembership } from './account-fixture.ts';
import { passage, textsWith } from './document-fixture.ts';
import { granted, newDocument, note, putDocument, strangers, type World } from './fixture.ts';

export function describeDocuments(world: () => World): void {
  describe('documents', () => {
    /** A document of many passages, and when the first of them are written. */
    function large(name: string) {
      const passages = Array.from({ length: 200 * passagesPerCommit }, () => passage('late', 'late'));
      const isWriting = new Promise<void>((resolve) => {
        Object.defineProperty(passages[0], 'heading', {
          get() {
            resolve();
            return '';
          },
        });
      });
      return { document: newDocument({ name, title: 'B', passages }), isWriting };
    }

    async function signedIn() {
      const { store, people, organization, userId } = await oneMembership(world());
      await people.acceptBySso(organization, userId);
      const signIn = async () => {
        const authority = bySession(userId, await people.signIn(userId), organization);
        return { authority, as: note('document.added', 'the subject', { authority }) };
      };
      return { store, people, organization, signIn };
    }

    it('are neither added nor replaced if the session ends before the last commit', async () => {
      const { store, people, organization, signIn } = await signedIn();
      const budget = { documentsMax: 2, bytesMax: 1_000_000 };
      await putDocument(store, organization, newDocument({ name: 'a.md', title: 'A' }));
      for (const name of ['a.md', 'b.md']) {
        const { authority, as } = await signIn();
        const { document, isWriting } = large(name);
        const put = store.putDocument(organization, document, budget, as);
        await isWriting;
        await store.endSession(authority.sessionHash);
        assert.equal(await put, 'unauthorized');
      }
      assert.deepEqual(
        (await store.listDocuments(organization)).map(({ title }) => title),
        ['A'],
      );
      assert.deepEqual(await textsWith(store, organization, null, 'late'), [[]]);
      assert.equal(await people.noted(organization, 'document.added', 'the subject'), 0);
      const { as } = await signIn();
      const { outcome } = granted(
        await store.putDocument(organization, newDocument({ name: 'c.md' }), budget, as),
      );
      assert.equal(outcome, 'added', 'rejected documents do not count');
    });

    it('leave nothing behind if a purge removes the organization while they are written', async () => {
      const { store, organization, signIn } = await signedIn();
      const { as } = await signIn();
      const { document, isWriting } = large('a.md');
      const put = store.putDocument(organization, document, { documentsMax: 2, bytesMax: 1_000_000 }, as);
      await isWriting;
      let isPurged = false;
      while (!isPurged) isPurged = (await store.purgeOrganization(organization)).done;
      assert.equal(await put, 'unauthorized');
      assert.deepEqual(await store.countPurge(organization, null), {});
    });

    it('are stored completely, listed by name, and found by their terms', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const second = newDocument({
        name: 'b.md',
        title: 'B',
        accountId: 'acc',
        url: 'https://example.org/b',
      });
      const first = newDocument({ name: 'a.md', title: 'Ä 🧶' });
      assert.deepEqual(await putDocument(store, organization, second), {
        outcome: 'added',
        id: second.id,
      });
      clock.pass(5);
      assert.deepEqual(await putDocument(store, organization, first), {
        outcome: 'added',
        id: first.id,
      });
      const common = { passageCount: 1, bytes: 17 };
      assert.deepEqual(await store.listDocuments(organization), [
        {
          ...common,
          id: first.id,
          accountId: null,
          name: 'a.md',
          title: 'Ä 🧶',
          url: null,
          addedAt: clock.ms,
        },
        {
          ...common,
          id: second.id,
          accountId: 'acc',
          name: 'b.md',
          title: 'B',
          url: 'https://example.org/b',
          addedAt: clock.ms - 5,
        },
      ]);
      const { passageCount, holders } = await store.findPassages(organization, 'acc', ['day', 'none'], 10);
      assert.equal(passageCount, 2);
      assert.deepEqual(holders[1], []);
      const groups = await store.findPassages(organization, 'acc', ['none|day', 'none|day none'], 10);
      assert.deepEqual(groups.holders, holders);
      const read = await store.readPassages(organization, 'acc', holders[0]!);
      assert.deepEqual(
        read
          .map(({ documentId, title, url, heading, text }) => [documentId, title, url, heading, text])
          .sort(),
        [
          [first.id, 'Ä 🧶', null, 'Goods', 'Thirty days.'],
          [second.id, 'B', 'https://example.org/b', 'Goods', 'Thirty days.'],
        ].sort(),
      );
    });

    it('are listed page by page', async () => {
      const { store } = world();
      const organization = await world().organization();
      for (const accountId of [null, 'acc'])
        for (const name of ['a.md', 'b.md'])
          await putDocument(store, organization, newDocument({ name, accountId }));
      const all = await store.listDocuments(organization);
      assert.deepEqual(
        all.map(({ name, accountId }) => [name, accountId]),
        [
          ['a.md', null],
          ['a.md', 'acc'],
          ['b.md', null],
          ['b.md', 'acc'],
        ],
      );
      assert.deepEqual(
        await store.listDocuments(organization, { after: undefined, limit: 1 }),
        all.slice(0, 1),
      );
      assert.deepEqual(
        await store.listDocuments(organization, { after: all[0]!, limit: 2 }),
        all.slice(1, 3),
      );
      assert.deepEqual(await store.listDocuments(organization, { after: all[3]!, limit: 2 }), []);
    });

    it('are read page by page, in the order of their text and in their latest version', async () => {
      const { store } = world();
      const organization = await world().organization();
      const texts = Array.from({ length: passagesPerCommit + 3 }, (_, at) => `passage ${at}`);
      const document = newDocument({ passages: texts.map((text) => ({ heading: 'H', text, terms: ['x'] })) });
      // Both are written at the same time, so that their passages have mixed numbers.
      await Promise.all([
        putDocument(store, organization, document),
        putDocument(
          store,
          organization,
          newDocument({ ...document, id: strangers.document(), name: 'b.md' }),
        ),
      ]);
      const read = (page: Parameters<typeof store.listPassages>[2], id: string = document.id) =>
        store.listPassages(organization, id, page);
      const all = await read({ limit: 100 });
      assert.deepEqual(
        all.map(({ heading, text }) => [heading, text]),
        texts.map((text) => ['H', text]),
      );
      assert.deepEqual(await read({ skip: 2, limit: 3 }), all.slice(2, 5));
      assert.deepEqual(await read({ after: all[4]!.number, limit: 2 }), all.slice(5, 7));
      assert.deepEqual(await read({ skip: all.length, limit: 2 }), []);
      assert.deepEqual(await read({ limit: 2 }, 'doc_none'), []);
      await putDocument(store, organization, newDocument({ passages: [passage('new', 'x')] }));
      assert.deepEqual(
        (await read({ limit: 10 })).map(({ text }) => text),
        ['new'],
      );
    });

    it('replace the document of the same account and name and keep its id', async () => {
      const { store } = world();
      const organization = await world().organization();
      const first = newDocument({ passages: [passage('old', 'wool', 'old'), passage('older', 'old')] });
      await putDocument(store, organization, first);
      await putDocument(
        store,
        organization,
        newDocument({ accountId: 'a', passages: [passage('of a', 'wool')] }),
      );
      const again = newDocument({ title: 'Again', passages: [passage('new', 'wool')] });
      assert.deepEqual(await putDocument(store, organization, again), {
        outcome: 'replaced',
        id: first.id,
      });
      assert.deepEqual(await textsWith(world().store, organization, 'a', 'wool', 'old'), [
        ['new', 'of a'],
        [],
      ]);
      const { passageCount } = await store.findPassages(organization, 'a', [], 10);
      assert.equal(passageCount, 2);
      assert.deepEqual(
        (await store.listDocuments(organization)).map(({ title }) => title),
        ['Again', 'Refunds'],
      );
      assert.equal((await store.findDocument(organization, first.id))?.title, 'Again');
      assert.equal(await store.findDocument(organization, again.id), undefined);
    });

    it('disappear with their passages when they are removed', async () => {
      const { store } = world();
      const organization = await world().organization();
      const kept = newDocument({ name: 'kept.md', passages: [passage('kept', 'wool')] });
      const removed = newDocument({ passages: [passage('1', 'wool'), passage('2', 'wool')] });
      await putDocument(store, organization, kept);
      await putDocument(store, organization, removed);
      const { holders } = await store.findPassages(organization, null, ['wool'], 10);
      assert.equal(holders[0]?.length, 3);
      assert.equal(await store.removeDocument(organization, removed.id, note()), 'removed');
      assert.equal(await store.removeDocument(organization, removed.id, note()), 'missing');
      assert.deepEqual(await textsWith(world().store, organization, null, 'wool'), [['kept']]);
      assert.deepEqual(
        (await store.readPassages(organization, null, holders[0]!)).map(({ text }) => text),
        ['kept'],
      );
      assert.equal((await store.findPassages(organization, null, [], 10)).passageCount, 1);
    });

    it('are visible on all nodes at once', async () => {
      const organization = await world().organization();
      const other = await world().node();
      const written = (text: string) => newDocument({ name: 'a.md', passages: [passage(text, 'day')] });
      const document = written('first');
      const assertFound = async (...texts: string[]) => {
        for (const node of [world().store, other])
          assert.deepEqual(await textsWith(node, organization, null, 'day'), [texts]);
      };
      await assertFound();
      await putDocument(world().store, organization, document);
      await assertFound('first');
      await putDocument(other, organization, written('second'));
      await assertFound('second');
      await other.removeDocument(organization, document.id, note());
      await assertFound();
      assert.deepEqual(await world().store.listDocuments(organization), []);
      assert.equal(await world().store.findDocument(organization, document.id), undefined);
    });

    it('are stored with a shortened title and without a URL that is too long', async () => {
      const { store } = world();
      const organization = await world().organization();
      const url = (length: number) => 'https://example.org/'.padEnd(length, 'a');
      const put = (name: string, title: string, length: number) =>
        putDocument(store, organization, newDocument({ name, title, url: url(length) }));
      await put('a', '🧶'.repeat(255), 2_048);
      await put('b', '🧶'.repeat(256), 2_049);
      const [first, second] = await store.listDocuments(organization);
      assert.ok(first);
      assert.deepEqual(await store.findDocument(organization, first.id), first);
      assert.deepEqual([first?.title, first?.url], ['🧶'.repeat(255), url(2_048)]);
      assert.deepEqual([second?.title, second?.url], [`${'🧶'.repeat(254)}…`, null]);
    });

    it('may have a name and an account that take as many bytes as the limit allows', async () => {
      const { store } = world();
      const organization = await world().organization();
      // Four bytes each, in an order that PostgreSQL cannot compress.
      const letters = Array.from({ length: defaultLimits.documentKeyBytesMax / 4 }, (_, index) =>
        String.fromCodePoint(0x20000 + ((index * 7919) % 40_000)),
      );
      const nameLength = defaultLimits.documentNameLengthMax;
      const name = letters.slice(0, nameLength).join('');
      const accountId = letters.slice(nameLength).join('');
      const document = newDocument({ name, accountId });
      assert.equal(granted(await putDocument(store, organization, document)).outcome, 'added');
      const found = await store.findDocument(organization, document.id);
      assert.deepEqual([found?.name, found?.accountId], [name, accountId]);
    });

    it("are rejected above the organization's limits of documents and bytes", async () => {
      const { store } = world();
      const organization = await world().organization();
      const elsewhere = await world().organization();
      const most = { documentsMax: 2, bytesMax: 100 };
      const put = async (name: string, bytes: number, where = organization) =>
        granted(await putDocument(store, where, newDocument({ name, bytes }), { within: most })).outcome;
      assert.equal(await put('a', 101), 'too-many-bytes');
      assert.equal(await put('a', 60), 'added');
      assert.equal(await put('b', 41), 'too-many-bytes');
      assert.equal(await put('b', 40), 'added');
      assert.equal(await put('c', 0), 'too-many-documents');
      assert.equal(await put('a', 61), 'too-many-bytes');
      assert.equal(await put('a', 59), 'replaced');
      assert.equal(await put('a', 100, elsewhere), 'added');
      const [first] = await store.listDocuments(organization);
      assert.deepEqual([first?.bytes, first?.passageCount], [59, 1]);
      await store.removeDocument(organization, first!.id, note());
      const outcomes = await Promise.all(['c', 'd', 'e'].map((name) => put(name, 1)));
      assert.deepEqual(outcomes.toSorted(), ['added', 'too-many-documents', 'too-many-documents']);
    });

    it('require an organization', async () => {
      const stranger = strangers.organization();
      const outcome = await putDocument(world().store, stranger, newDocument());
      assert.deepEqual(outcome, { outcome: 'organization-missing' });
      assert.deepEqual(await world().store.listDocuments(stranger), []);
      assert.deepEqual(await world().store.findPassages(stranger, null, ['day'], 10), {
        passageCount: 0,
        holders: [[]],
      });
    });
  });
}
