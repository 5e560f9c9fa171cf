import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SigningKey, Store } from '../../src/storage/port/store.ts';
import { newApplication, newSigningKey, note, type World } from './fixture.ts';

const verifyMs = 60_000;

export function describeSigningKeys(world: () => World): void {
  describe('signing keys', () => {
    it('keeps the first candidate for all later callers, on every node', async () => {
      const { store } = world();
      assert.deepEqual(await store.listSigningKeys(verifyMs), []);
      const first = { ...newSigningKey('first'), retiredAt: null };
      assert.deepEqual(await store.keepSigningKey(newSigningKey('first')), first);
      const other = await world().node();
      assert.deepEqual(await other.keepSigningKey(newSigningKey('second')), first);
      assert.deepEqual(await store.listSigningKeys(verifyMs), [first]);
    });

    it('keeps one of several concurrent candidates on two nodes and returns it to all', async () => {
      const { store } = world();
      const nodes = [store, await world().node()];
      const kept = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          nodes[index % 2]!.keepSigningKey(newSigningKey(`candidate-${index}`)),
        ),
      );
      assert.equal(new Set(kept.map(({ id }) => id)).size, 1);
      for (const node of nodes) assert.deepEqual(await node.listSigningKeys(verifyMs), [kept[0]]);
    });

    it('replaces the active key and records when it was retired', async () => {
      const { store, clock } = world();
      const other = await world().node();
      await store.keepSigningKey(newSigningKey('first'));
      clock.pass(1000);
      await store.rotateSigningKey(newSigningKey('second'), false, note());
      const second = { ...newSigningKey('second'), retiredAt: null };
      assert.deepEqual(await other.listSigningKeys(0), [second]);
      assert.deepEqual(await other.keepSigningKey(newSigningKey('third')), second);
      assert.deepEqual(await other.listSigningKeys(verifyMs), [
        second,
        { ...newSigningKey('first'), retiredAt: clock.ms },
      ]);
    });

    it('rotates if there is no key yet', async () => {
      const { store } = world();
      await store.rotateSigningKey(newSigningKey('first'), false, note());
      assert.deepEqual(listIds(await store.listSigningKeys(verifyMs)), ['first']);
    });

    it('leaves one active key after concurrent rotations on two nodes', async () => {
      const { store } = world();
      const nodes = [store, await world().node()];
      const names = Array.from({ length: 10 }, (_, index) => `key-${index}`);
      await Promise.all(
        names.map((id, index) => nodes[index % 2]!.rotateSigningKey(newSigningKey(id), false, note())),
      );
      const keys = await store.listSigningKeys(verifyMs);
      assert.deepEqual(listIds(keys).sort(), names);
      assert.equal(keys.filter(({ retiredAt }) => retiredAt === null).length, 1);
    });

    it("lists retired keys, newest first, for as long as they verify, by the store's clock", async () => {
      const { store, clock } = world();
      for (const id of ['b', 'a', 'c']) {
        await store.rotateSigningKey(newSigningKey(id), false, note());
        clock.pass(1000);
      }
      assert.deepEqual(listIds(await store.listSigningKeys(verifyMs)), ['c', 'a', 'b']);
      // `b` retired two seconds ago and `a` one.
      clock.pass(verifyMs - 2001);
      assert.deepEqual(listIds(await store.listSigningKeys(verifyMs)), ['c', 'a', 'b']);
      clock.pass(1);
      assert.deepEqual(listIds(await store.listSigningKeys(verifyMs)), ['c', 'a']);
      clock.pass(1000);
      assert.deepEqual(listIds(await store.listSigningKeys(verifyMs)), ['c']);
      clock.pass(100 * verifyMs);
      assert.deepEqual(listIds(await store.listSigningKeys(verifyMs)), ['c']);
    });

    it('removes retired keys and raises the epoch of every application together, on every node', async () => {
      const { store } = world();
      const other = await world().node();
      const applications = [newApplication(), newApplication()];
      for (const application of applications)
        await store.createApplication(await world().organization(), application, note());
      const epochs = (node: Store) =>
        Promise.all(applications.map(async ({ id }) => (await node.findApplicationGrant(id))!.epoch));
      await store.rotateSigningKey(newSigningKey('first'), false, note());
      await store.rotateSigningKey(newSigningKey('second'), false, note());
      const before = await epochs(other);

      await store.rotateSigningKey(newSigningKey('third'), false, note());
      assert.deepEqual(await epochs(other), before);
      assert.equal((await other.listSigningKeys(verifyMs)).length, 3);

      await store.rotateSigningKey(newSigningKey('fourth'), true, note());
      const after = await epochs(other);
      assert.ok(after.every((epoch, index) => epoch > before[index]!));
      assert.deepEqual(listIds(await other.listSigningKeys(verifyMs)), ['fourth']);
    });

    it('is rotated with a note in each organization that has applications, once', async () => {
      const { store } = world();
      const several = await world().organization();
      const one = await world().organization();
      const none = await world().organization();
      for (const organization of [several, several, one, none]) {
        const application = newApplication();
        await store.createApplication(organization, application, note());
        if (organization === none) await store.deleteApplication(none, application.id, note());
      }
      const rotated = note('signing-key.rotated', 'next');
      for (const [index, forget] of [false, true].entries()) {
        await store.rotateSigningKey(newSigningKey(`next-${index}`), forget, {
          ...rotated,
          id: `evt_${index}`,
        });
        for (const [organization, expected] of [
          [several, index + 1],
          [one, index + 1],
          [none, 0],
        ] as const) {
          const { events } = await store.listAudit(organization, { limit: 100 });
          const rotations = events.filter(({ action }) => action === 'signing-key.rotated');
          assert.deepEqual(
            rotations.map(({ subject }) => subject),
            Array(expected).fill('next'),
          );
        }
      }
    });
  });
}

function listIds(keys: readonly SigningKey[]): string[] {
  return keys.map(({ id }) => id);
}
