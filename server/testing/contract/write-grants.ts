import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PersonAuthority } from '../../src/domain/authority.ts';
import type { KeyId, OrganizationId, ThreadId, UserId } from '../../src/domain/id.ts';
import type { Store } from '../../src/storage/port/store.ts';
import { by, fakeHash, newThread, note, strangers, type World } from './fixture.ts';

const email = 'ada@example.org';

/** A member with a live key and a thread. */
interface Acme {
  readonly organization: OrganizationId;
  readonly userId: UserId;
  readonly keyId: KeyId;
  readonly authority: PersonAuthority;
  readonly thread: ThreadId;
}

export function describeWriteGrants(world: () => World): void {
  describe('writes by key', () => {
    async function makeAcme(): Promise<Acme & { readonly keyHash: string }> {
      const organization = await world().organization();
      const userId = await world().member(organization, email);
      const { id: keyId } = await makeKey(organization, userId, fakeHash(1));
      const { id: thread } = await world().thread(organization, userId);
      const keyHash = fakeHash(1);
      return { organization, userId, keyId, keyHash, authority: { kind: 'key', userId, keyHash }, thread };
    }

    async function makeKey(
      organization: OrganizationId,
      userId: UserId | null,
      hash: string,
    ): Promise<{ id: KeyId }> {
      const key = { id: strangers.key(), name: '', userId, hash, hint: '', createdBy: null };
      assert.equal(await world().store.createApiKey(organization, key, note()), 'created');
      // As the request does before it writes: the store may keep it.
      assert.equal((await world().store.findKeyGrant(hash))?.keyId, key.id);
      return key;
    }

    const deletedBy = (authority: PersonAuthority) => note('thread.deleted', '', { authority });
    const getOutcome = (result: string | { readonly outcome: string }) =>
      typeof result === 'string' ? result : result.outcome;
    const idempotency = { key: 'k', bodyHash: fakeHash(9), keepMs: 1000 };

    /** The outcomes of every write. */
    async function writeAll(
      { organization, userId, authority, thread }: Acme,
      store: Store = world().store,
    ): Promise<string[]> {
      const writes = [
        () => store.createThread(organization, newThread(userId), authority),
        () => store.createThread(organization, newThread(userId, { idempotency }), authority),
        () => store.renameThread(organization, thread, 'Renamed', authority),
        () => store.deleteThread(organization, thread, deletedBy(authority)),
      ];
      const outcomes: string[] = [];
      for (const write of writes) outcomes.push(getOutcome(await write()));
      return outcomes;
    }

    /** Everything that a write could change. */
    async function state({ organization, userId, thread }: Acme): Promise<unknown> {
      const { store } = world();
      return [
        await store.getThread(organization, thread),
        await world().walk(organization, { userId }),
        (await store.beginWalk(organization, { userId }, 1)).size,
        (await store.listAudit(organization, { limit: 100 })).events.map(({ action }) => action),
      ];
    }

    async function assertRefused(acme: Acme, what: string): Promise<void> {
      const before = await state(acme);
      assert.deepEqual(await writeAll(acme), Array(4).fill('unauthorized'), what);
      assert.deepEqual(await state(acme), before, what);
    }

    it('succeed while the key is live', async () => {
      assert.deepEqual(await writeAll(await makeAcme()), ['created', 'created', 'renamed', 'deleted']);
    });

    it('change nothing after the key is revoked, even on another node', async () => {
      const acme = await makeAcme();
      const node = await world().node();
      assert.ok(await node.findKeyGrant(acme.keyHash));
      await world().store.revokeApiKey(acme.organization, acme.keyId, note());
      await assertRefused(acme, 'here');
      assert.deepEqual(await writeAll(acme, node), Array(4).fill('unauthorized'));
    });

    it('change nothing after the member is removed, even when they come back', async () => {
      const acme = await makeAcme();
      await world().store.removeMember(acme.organization, email, false, note());
      await assertRefused(acme, 'gone');
      await world().member(acme.organization, email);
      await assertRefused(acme, 'back');
    });

    it('change nothing while the public API is disabled', async () => {
      const acme = await makeAcme();
      await world().store.updateOrganization(acme.organization, { apiEnabled: false }, note());
      await assertRefused(acme, 'out');
      await world().store.updateOrganization(acme.organization, { apiEnabled: true }, note());
      assert.deepEqual(await writeAll(acme), ['created', 'created', 'renamed', 'deleted']);
    });

    it('change nothing with a key that is not the user’s own in this organization', async () => {
      const acme = await makeAcme();
      const colleague = await world().member(acme.organization);
      await makeKey(acme.organization, colleague, fakeHash(2));
      await makeKey(acme.organization, null, fakeHash(3));
      const other = await world().organization();
      await world().member(other, email);
      await makeKey(other, acme.userId, fakeHash(4));
      for (const byte of [2, 3, 4, 5]) {
        const authority = { kind: 'key', userId: acme.userId, keyHash: fakeHash(byte) } as const;
        await assertRefused({ ...acme, authority }, `key ${byte}`);
      }
    });

    it('reject a repeated idempotency key after the API key is revoked, and create nothing', async () => {
      const { store } = world();
      const acme = await makeAcme();
      const { organization, userId, authority } = acme;
      const again = async (as: PersonAuthority) =>
        getOutcome(await store.createThread(organization, newThread(userId, { idempotency }), as));
      await store.revokeApiKey(organization, acme.keyId, note());
      assert.equal(await again(authority), 'unauthorized');
      assert.equal(await again(by(userId)), 'created', 'the refusal has not used the key up');
      assert.equal(await again(by(userId)), 'repeated');
      assert.equal(await again(authority), 'unauthorized');
    });
  });
}
