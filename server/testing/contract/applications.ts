import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApplicationId } from '../../src/domain/id.ts';
import { defaultLimits } from '../../src/domain/limits.ts';
import type { Store } from '../../src/storage/port/store.ts';
import { fakeHash, newApplication, newSigningKey, note, strangers, type World } from './fixture.ts';

export function describeApplications(world: () => World): void {
  describe('applications', () => {
    it('finds a live application by its id, with the hash of its secret', async () => {
      const { store } = world();
      const organizationId = await world().organization();
      const application = newApplication();
      assert.equal(await store.createApplication(organizationId, application, note()), 'created');
      const { epoch, ...grant } = (await store.findApplicationGrant(application.id))!;
      assert.deepEqual(grant, { organizationId, secretHash: fakeHash(1), apiEnabled: true });
      assert.ok(Number.isSafeInteger(epoch));
      assert.equal(await store.findApplicationGrant(strangers.application()), undefined);
      assert.equal(await store.findApplicationGrant(''), undefined);
    });

    it('lists applications without their secret, in order of creation', async () => {
      const { store, clock } = world();
      const organizationId = await world().organization();
      const [first, second, third] = [newApplication(), newApplication(), newApplication()];
      // Ids increase, so ordering by id alone would put the later one first.
      await store.createApplication(organizationId, second, note());
      const createdAt = clock.ms;
      clock.pass(1000);
      await store.createApplication(organizationId, first, note());
      await store.createApplication(organizationId, third, note());
      const listed = await store.listApplications(organizationId);
      assert.deepEqual(listed[0], {
        id: second.id,
        name: second.name,
        createdAt,
        rotatedAt: null,
        lastUsedAt: null,
      });
      assert.deepEqual(
        listed.map(({ id }) => id),
        [second.id, first.id, third.id],
      );
      assert.deepEqual(await store.listApplications(strangers.organization()), []);
    });

    it('rejects new applications and secrets without the public API and for unknown organizations', async () => {
      const { store } = world();
      const organizationId = await world().organization();
      const [before, after] = [newApplication(), newApplication()];
      await store.createApplication(organizationId, before, note());
      const grant = await store.findApplicationGrant(before.id);
      await store.updateOrganization(organizationId, { apiEnabled: false }, note());
      assert.equal(await store.createApplication(organizationId, after, note()), 'api-disabled');
      assert.equal(
        await store.rotateApplication(organizationId, before.id, fakeHash(2), note()),
        'api-disabled',
      );
      assert.equal(
        await store.createApplication(strangers.organization(), after, note()),
        'organization-missing',
      );
      assert.equal(await store.findApplicationGrant(after.id), undefined);
      assert.deepEqual(await store.findApplicationGrant(before.id), { ...grant, apiEnabled: false });
      assert.equal((await store.listApplications(organizationId))[0]?.rotatedAt, null);
    });

    it('replaces the secret, raises the epoch and records the time together', async () => {
      const { store, clock } = world();
      const organizationId = await world().organization();
      const [application, neighbor] = [newApplication(), newApplication()];
      await store.createApplication(organizationId, application, note());
      await store.createApplication(organizationId, neighbor, note());
      const neighborGrant = await store.findApplicationGrant(neighbor.id);
      const first = await readEpoch(store, application.id);
      clock.pass(1000);
      assert.equal(
        await store.rotateApplication(organizationId, application.id, fakeHash(2), note()),
        'rotated',
      );
      const grant = await store.findApplicationGrant(application.id);
      assert.equal(grant?.secretHash, fakeHash(2));
      assert.ok(grant.epoch > first);
      assert.equal((await store.listApplications(organizationId))[0]?.rotatedAt, clock.ms);
      assert.deepEqual(await store.findApplicationGrant(neighbor.id), neighborGrant);
      // Every rotation revokes tokens, even if the new secret equals the old one.
      assert.equal(
        await store.rotateApplication(organizationId, application.id, fakeHash(2), note()),
        'rotated',
      );
      assert.ok((await readEpoch(store, application.id)) > grant.epoch);
    });

    it('gives each of several concurrent rotations on two nodes its own epoch', async () => {
      const { store } = world();
      const nodes = [store, await world().node()];
      const organizationId = await world().organization();
      const application = newApplication();
      await store.createApplication(organizationId, application, note());
      const first = await readEpoch(store, application.id);
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          nodes[index % 2]!.rotateApplication(organizationId, application.id, fakeHash(index), note()),
        ),
      );
      assert.deepEqual(new Set(outcomes), new Set(['rotated']));
      assert.ok((await readEpoch(store, application.id)) >= first + 10);
    });

    it('are limited, without deleted ones', async () => {
      const { store } = world();
      const organizationId = await world().organization();
      const created = Array.from({ length: defaultLimits.organizationApplicationsMax }, () =>
        newApplication(),
      );
      const create = (application = newApplication()) =>
        store.createApplication(organizationId, application, note());
      const outcomes = await Promise.all(created.map(create));
      assert.deepEqual(new Set(outcomes), new Set(['created']));
      assert.equal(await create(), 'too-many');
      await store.deleteApplication(organizationId, created[0]!.id, note());
      assert.equal(await create(), 'created');
    });

    it('deletes for good, even without the public API', async () => {
      const { store } = world();
      const organizationId = await world().organization();
      const [application, other] = [newApplication(), newApplication()];
      await store.createApplication(organizationId, application, note());
      await store.createApplication(organizationId, other, note());
      await store.updateOrganization(organizationId, { apiEnabled: false }, note());
      assert.equal(await store.deleteApplication(organizationId, application.id, note()), 'deleted');
      await store.updateOrganization(organizationId, { apiEnabled: true }, note());
      assert.equal(await store.findApplicationGrant(application.id), undefined);
      assert.deepEqual(
        (await store.listApplications(organizationId)).map(({ id }) => id),
        [other.id],
      );
      assert.equal(
        await store.rotateApplication(organizationId, application.id, fakeHash(2), note()),
        'missing',
      );
      assert.equal(await store.deleteApplication(organizationId, application.id, note()), 'missing');
      assert.equal(await store.findApplicationGrant(application.id), undefined);
    });

    it('reports when there is nothing to rotate or delete', async () => {
      const { store } = world();
      const organizationId = await world().organization();
      const stranger = strangers.application();
      assert.equal(await store.rotateApplication(organizationId, stranger, fakeHash(2), note()), 'missing');
      assert.equal(await store.deleteApplication(organizationId, stranger, note()), 'missing');
      const nowhere = strangers.organization();
      assert.equal(await store.rotateApplication(nowhere, stranger, fakeHash(2), note()), 'missing');
      assert.equal(await store.deleteApplication(nowhere, stranger, note()), 'missing');
    });

    it('shows another node a rotation, a deletion, a disabled API and a raised epoch at once', async () => {
      const { store } = world();
      const other = await world().node();
      const organizationId = await world().organization();
      const application = newApplication();
      await store.createApplication(organizationId, application, note());
      const first = await readEpoch(other, application.id);
      await store.rotateApplication(organizationId, application.id, fakeHash(2), note());
      const second = await other.findApplicationGrant(application.id);
      assert.equal(second?.secretHash, fakeHash(2));
      assert.ok(second.epoch > first);
      await store.rotateSigningKey(newSigningKey('next'), true, note());
      assert.ok((await readEpoch(other, application.id)) > second.epoch);
      await store.updateOrganization(organizationId, { apiEnabled: false }, note());
      assert.equal((await other.findApplicationGrant(application.id))?.apiEnabled, false);
      await store.deleteApplication(organizationId, application.id, note());
      assert.equal(await other.findApplicationGrant(application.id), undefined);
    });
  });
}

async function readEpoch(store: Store, applicationId: ApplicationId): Promise<number> {
  const grant = await store.findApplicationGrant(applicationId);
  assert.ok(grant);
  return grant.epoch;
}
