import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { passage, textsWith } from './document-fixture.ts';
import { newDocument, putDocument, type World } from './fixture.ts';

export function describeDocumentSearch(world: () => World): void {
  describe('searched documents', () => {
    it('are found in the whole organization, or only with their account', async () => {
      const { store } = world();
      const organization = await world().organization();
      const add = (accountId: string | null, text: string) =>
        putDocument(store, organization, newDocument({ accountId, passages: [passage(text, 'wool')] }));
      await add(null, 'general');
      await add('a', 'of a');
      await add('b', 'of b');
      await add('', 'of the account without a name');
      assert.deepEqual(await textsWith(world().store, organization, null, 'wool'), [['general']]);
      assert.deepEqual(await textsWith(world().store, organization, 'a', 'wool'), [['general', 'of a']]);
      assert.deepEqual(await textsWith(world().store, organization, 'c', 'wool'), [['general']]);
      assert.deepEqual(await textsWith(world().store, organization, '', 'wool'), [
        ['general', 'of the account without a name'],
      ]);
      const { passageCount, holders } = await store.findPassages(organization, 'a', ['wool'], 10);
      assert.equal(passageCount, 2);
      const readAs = async (accountId: string | null) =>
        (await store.readPassages(organization, accountId, holders[0]!)).map(({ text }) => text).sort();
      assert.deepEqual(await readAs('a'), ['general', 'of a']);
      assert.deepEqual(await readAs('b'), ['general']);
      assert.deepEqual(await readAs(null), ['general']);
    });

    it('are read in the given order', async () => {
      const { store } = world();
      const organization = await world().organization();
      const passages = ['a', 'b', 'c'].map((text) => passage(text, 'wool'));
      await putDocument(store, organization, newDocument({ passages }));
      const [first, second, third] = (await store.findPassages(organization, null, ['wool'], 10)).holders[0]!;
      const texts = async (...numbers: number[]) =>
        (await store.readPassages(organization, null, numbers)).map(({ text }) => text);
      const inOrder = await texts(first!, second!, third!);
      assert.deepEqual(await texts(third!, first!, second!), [inOrder[2], inOrder[0], inOrder[1]]);
      assert.deepEqual(await texts(third!, 999_999, first!), [inOrder[2], inOrder[0]]);
    });

    it('are found by terms of any script, but not by a part of a term', async () => {
      const { store } = world();
      const organization = await world().organization();
      const terms = ['größe', '羊毛', 'шерсть', '42', 'wool', 'near', 'and', 'or', 'not'];
      await putDocument(store, organization, newDocument({ passages: [passage('all', ...terms)] }));
      for (const term of terms)
        assert.deepEqual(await textsWith(world().store, organization, null, term), [['all']], term);
      for (const term of ['gro', 'größen', 'woo', 'ool', '4', '羊']) {
        assert.deepEqual(await textsWith(world().store, organization, null, term), [[]], term);
      }
    });

    it('are found by several terms if one passage contains all of them', async () => {
      const { store } = world();
      const organization = await world().organization();
      const general = [passage('both', 'wool', 'red'), passage('one', 'wool'), passage('other', 'red')];
      await putDocument(store, organization, newDocument({ passages: general }));
      const own = newDocument({ name: 'own', accountId: 'acc', passages: [passage('own', 'wool', 'red')] });
      await putDocument(store, organization, own);
      assert.deepEqual(
        await textsWith(world().store, organization, null, 'wool red', 'red wool', 'wool blue'),
        [['both'], ['both'], []],
      );
      assert.deepEqual(await textsWith(world().store, organization, 'acc', 'wool red', 'wool'), [
        ['both', 'own'],
        ['both', 'one', 'own'],
      ]);
    });

    it('return no more passages per term than the limit', async () => {
      const { store } = world();
      const organization = await world().organization();
      const passages = Array.from({ length: 20 }, (_, index) => passage(`${index}`, 'wool', `n${index}`));
      await putDocument(store, organization, newDocument({ passages }));
      const { holders } = await store.findPassages(organization, null, ['wool', 'n7'], 5);
      assert.deepEqual([holders[0]?.length, holders[1]?.length], [5, 1]);
    });
  });
}
