import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { passage } from './document-fixture.ts';
import { newDocument, note, putDocument, type World } from './fixture.ts';

export function describeDocumentQuestions(world: () => World): void {
  describe('documents with example questions', () => {
    it('are claimed once for their example questions, which are removed with them', async () => {
      const { store } = world();
      const organization = await world().organization();
      while ((await store.claimDocumentForQuestions()) !== undefined);
      const [general, own] = [newDocument(), newDocument({ name: 'own.md', accountId: 'acc' })];
      for (const document of [general, own]) await putDocument(store, organization, document);
      const claims = await Promise.all([1, 2, 3, 4].map(() => store.claimDocumentForQuestions()));
      while (claims.filter((one) => one !== undefined).length < 2)
        claims.push(await store.claimDocumentForQuestions());
      const claimed = claims.filter((one) => one !== undefined);
      assert.deepEqual(claimed.map(({ id }) => id).sort(), [general.id, own.id].sort());
      assert.deepEqual(
        claimed.map(({ organizationId }) => organizationId),
        [organization, organization],
      );
      assert.equal(await store.claimDocumentForQuestions(), undefined);

      const found = async (id: string) => (await store.findDocument(organization, id))!;
      await store.setDocumentQuestions(organization, await found(general.id), ['What is “ä”?', 'B?']);
      await store.setDocumentQuestions(organization, await found(own.id), ['C?']);
      const questions = (account: string | null, limit = 10) =>
        store.listDocumentQuestions(organization, account, limit);
      assert.deepEqual(await questions(null), [['What is “ä”?', 'B?']]);
      assert.deepEqual(await questions('acc'), [['C?'], ['What is “ä”?', 'B?']]);
      assert.deepEqual(await questions('acc', 1), [['C?']]);

      const before = await found(general.id);
      world().clock.pass(5);
      await putDocument(store, organization, newDocument());
      assert.deepEqual(await questions(null), [], 'a new version needs new questions');
      await store.setDocumentQuestions(organization, before, ['Of the old version?']);
      assert.deepEqual(await questions(null), []);
      const again = await store.claimDocumentForQuestions();
      assert.equal(again?.id, general.id);
      await store.setDocumentQuestions(organization, again!, null);
      assert.equal((await store.claimDocumentForQuestions())?.id, general.id, 'it was given back');
      await store.removeDocument(organization, own.id, note('document.removed', own.id));
      assert.deepEqual(await questions('acc'), []);
    });

    it('are outlined by title, opening text and example questions, within the account', async () => {
      const { store } = world();
      const organization = await world().organization();
      const passages = [passage('Opening.', 'x'), passage('b', 'x')];
      const general = newDocument({ name: 'a.md', title: 'A', passages });
      const own = newDocument({ name: 'b.md', title: 'B', accountId: 'acc' });
      for (const document of [own, general]) {
        await putDocument(store, organization, document);
      }
      const outline = { title: 'A', opening: 'Opening.', questions: [] };
      assert.deepEqual(await store.outlineDocuments(organization, null, 5), [outline]);
      const added = (await store.findDocument(organization, general.id))!;
      await store.setDocumentQuestions(organization, added, ['What is “ä”?', 'B?']);
      const both = await store.outlineDocuments(organization, 'acc', 2);
      assert.deepEqual(
        both.map(({ title, questions }) => [title, questions]),
        [
          ['A', ['What is “ä”?', 'B?']],
          ['B', []],
        ],
      );
      assert.equal((await store.outlineDocuments(organization, 'acc', 1)).length, 1);
      assert.deepEqual(await store.outlineDocuments(await world().organization(), 'acc', 5), []);
    });
  });
}
