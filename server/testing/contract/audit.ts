import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AuditAction } from '../../src/domain/audit.ts';
import type { LogPosition } from '../../src/domain/cursor.ts';
import type { OrganizationId } from '../../src/domain/id.ts';
import type { Store } from '../../src/storage/port/store.ts';
import { proof } from './account-fixture.ts';
import {
  fakeHash,
  granted,
  newApplication,
  newDocument,
  note,
  putDocument,
  strangers,
  type World,
} from './fixture.ts';

const newKey = (byte = 1) => ({
  id: strangers.key(),
  name: '',
  userId: null,
  hash: fakeHash(byte),
  hint: '',
  createdBy: null,
});

export function describeAudits(world: () => World): void {
  describe('the audit log', () => {
    /** Actions and subjects, oldest first. */
    async function listActions(organizationId: OrganizationId): Promise<[AuditAction, string][]> {
      const events = (await world().store.listAudit(organizationId, { limit: 100 })).events;
      return events.map(({ action, subject }): [AuditAction, string] => [action, subject]).reverse();
    }

    /** An organization, and its audit events after the first one. */
    async function watched(change: Parameters<World['organization']>[0] = {}) {
      const organization = await world().organization(change);
      assert.deepEqual(await listActions(organization), [['organization.created', organization]]);
      return { organization, since: async () => (await listActions(organization)).slice(1) };
    }

    it("returns exactly the note, with the time and the actor's address", async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const userId = await world().member(organization, 'ada@example.org');
      const detail = { name: 'Ünï 🧶', keys: 2, admin: true, account: null };
      const authority = proof(userId);
      const mine = note('key.created', 'key_1', { authority, detail, traceId: 'mine' });
      const { authority: _, ...written } = mine;
      clock.pass(7);
      await store.writeAudit(organization, mine);
      assert.deepEqual((await store.listAudit(organization, { limit: 1 })).events, [
        {
          ...written,
          actor: { kind: 'user', userId },
          at: clock.ms,
          actorEmail: 'ada@example.org',
          subjectEmail: null,
        },
      ]);
      const kinds = ['operator', 'skein'] as const;
      for (const kind of kinds)
        await store.writeAudit(organization, note('reply.failed', kind, { authority: { kind } }));
      const [skein, operator] = (await store.listAudit(organization, { limit: 2 })).events;
      assert.deepEqual([skein?.actor, skein?.actorEmail], [{ kind: 'skein' }, null]);
      assert.deepEqual([operator?.actor, operator?.actorEmail], [{ kind: 'operator' }, null]);
    });

    it('returns the current address of a subject that is a user', async () => {
      const { store } = world();
      const organization = await world().organization();
      const userId = await world().member(organization, 'ada@example.org');
      await store.writeAudit(organization, note('member.invited', userId));
      const [event] = (await store.listAudit(organization, { limit: 1 })).events;
      assert.deepEqual([event?.subject, event?.subjectEmail], [userId, 'ada@example.org']);
    });

    it('keeps events of an actor whom the store does not know', async () => {
      const { store } = world();
      const organization = await world().organization();
      const authority = proof();
      await store.writeAudit(organization, note('thread.deleted', 'thr_1', { authority }));
      const [event] = (await store.listAudit(organization, { limit: 1 })).events;
      const actor = { kind: 'user', userId: authority.userId };
      assert.deepEqual([event?.actor, event?.actorEmail], [actor, null]);
    });

    it('is read in pages, newest first, each event once, even within one millisecond', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const ofHere: string[] = [];
      for (const events of [1, 4, 3]) {
        clock.pass(10);
        const notes = Array.from({ length: events }, () => note('session.started', 'usr_1'));
        // Written in a different order than their ids.
        for (const each of notes.toReversed()) await store.writeAudit(organization, each);
        ofHere.unshift(...notes.map(({ id }) => id).toReversed());
      }
      const all = (await store.listAudit(organization, { limit: 100 })).events;
      const moments = new Set(all.map(({ at }) => at));
      assert.equal(moments.size, 4, 'several events have the same time');
      assert.deepEqual(
        all.slice(0, 8).map(({ id }) => id),
        ofHere,
      );
      for (const limit of [1, 2, 3, 9]) {
        assert.deepEqual(await inPages(store, organization, limit), all, `in pages of ${limit}`);
      }
    });

    it('is searched by trace ID, also across pages', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      for (let index = 0; index < 9; index += 1) {
        if (index % 2 === 0) clock.pass(1);
        await store.writeAudit(
          organization,
          note('thread.published', `${index}`, { traceId: `t${index % 3}` }),
        );
      }
      const of = async (traceId: string) =>
        (await inPages(store, organization, 2, traceId)).map(({ subject }) => subject);
      assert.deepEqual(await of('t1'), ['7', '4', '1']);
      assert.deepEqual(await of('t2'), ['8', '5', '2']);
      assert.deepEqual(await of('t'), []);
      assert.deepEqual(await of('T1'), []);
    });

    it('is searched by trace ID within a time', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const times: number[] = [];
      for (let index = 0; index < 3; index += 1) {
        clock.pass(10);
        times.push(clock.ms);
        await store.writeAudit(organization, note('thread.published', `${index}`, { traceId: 'mine' }));
      }
      const query = { limit: 10, traceId: 'mine', since: times[1]!, before: { at: times[2]!, id: '' } };
      const { events } = await store.listAudit(organization, query);
      assert.deepEqual(
        events.map(({ subject }) => subject),
        ['1'],
      );
    });

    it('is the same on all nodes and shows no events of other organizations', async () => {
      const { store } = world();
      const other = await world().node();
      const [home, foreign] = [await world().organization(), await world().organization()];
      const mine = note('key.revoked', 'key_1', { traceId: 'shared' });
      await store.writeAudit(home, mine);
      // The same event may be written in several organizations.
      await store.writeAudit(foreign, { ...mine, subject: 'key_2' });
      for (const [organization, subject] of [
        [home, 'key_1'],
        [foreign, 'key_2'],
      ] as const) {
        const events = (await other.listAudit(organization, { traceId: 'shared', limit: 10 })).events;
        assert.deepEqual(
          events.map((event) => event.subject),
          [subject],
        );
      }
      assert.deepEqual((await other.listAudit(strangers.organization(), { limit: 10 })).events, []);
    });

    it('records a change of an organization, and nothing if no value changes', async () => {
      const { store } = world();
      const { organization, since } = await watched({ apiEnabled: true, dailyQuota: 7 });
      const change = (values: { apiEnabled?: boolean; dailyQuota?: number }, subject: string) =>
        store.updateOrganization(organization, values, note('organization.changed', subject));
      const before = await store.findOrganization(organization);
      assert.ok(before);
      assert.deepEqual(await change({}, 'nothing given'), before);
      assert.deepEqual(await change({ apiEnabled: true }, 'as it is'), before);
      assert.deepEqual(await change({ apiEnabled: true, dailyQuota: 7 }, 'both unchanged'), before);
      assert.deepEqual(await since(), []);
      await change({ dailyQuota: 8 }, 'quota');
      await change({ apiEnabled: false, dailyQuota: 8 }, 'api');
      assert.equal(
        await store.updateOrganization(strangers.organization(), { dailyQuota: 1 }, note()),
        undefined,
      );
      assert.deepEqual(await since(), [
        ['organization.changed', 'quota'],
        ['organization.changed', 'api'],
      ]);
    });

    it('records a change once when two nodes make it at the same time', async () => {
      const nodes = [world().store, await world().node()];
      const { organization, since } = await watched({ dailyQuota: 7 });
      const key = newKey();
      await world().store.createApiKey(organization, key, note('key.created', key.id));
      await Promise.all(
        Array.from({ length: 10 }, async (_, index) => {
          const node = nodes[index % 2]!;
          const changed = granted(await node.updateOrganization(organization, { dailyQuota: 8 }, note()));
          assert.equal(changed?.dailyQuota, 8);
          assert.equal(await node.revokeApiKey(organization, key.id, note('key.revoked', key.id)), 'revoked');
        }),
      );
      const actions = (await since()).map(([action]) => action);
      assert.deepEqual(actions.sort(), ['key.created', 'key.revoked', 'organization.changed']);
    });

    it('records creating and revoking a key, and nothing rejected or repeated', async () => {
      const { store } = world();
      const { organization, since } = await watched();
      const key = newKey();
      const refused = note('key.created', 'refused');
      await store.createApiKey(organization, { ...key, userId: strangers.user() }, refused);
      await store.revokeApiKey(organization, key.id, note('key.revoked', 'missing'));
      assert.deepEqual(await since(), []);
      await store.createApiKey(organization, key, note('key.created', key.id));
      await store.revokeApiKey(organization, key.id, note('key.revoked', key.id));
      await store.revokeApiKey(organization, key.id, note('key.revoked', 'again'));
      await store.updateOrganization(
        organization,
        { apiEnabled: false },
        note('organization.changed', 'api'),
      );
      await store.createApiKey(organization, newKey(2), refused);
      assert.deepEqual(await since(), [
        ['key.created', key.id],
        ['key.revoked', key.id],
        ['organization.changed', 'api'],
      ]);
    });

    it('records creating, rotating and deleting an application, and nothing rejected', async () => {
      const { store } = world();
      const { organization, since } = await watched();
      const [application, late] = [newApplication(), newApplication()];
      const { id } = application;
      await store.rotateApplication(organization, id, fakeHash(2), note('application.rotated', 'missing'));
      await store.deleteApplication(organization, id, note('application.deleted', 'missing'));
      assert.deepEqual(await since(), []);
      await store.createApplication(organization, application, note('application.created', id));
      await store.rotateApplication(organization, id, fakeHash(2), note('application.rotated', id));
      await store.updateOrganization(
        organization,
        { apiEnabled: false },
        note('organization.changed', 'api'),
      );
      await store.createApplication(organization, late, note('application.created', 'refused'));
      await store.rotateApplication(organization, id, fakeHash(3), note('application.rotated', 'refused'));
      await store.deleteApplication(organization, id, note('application.deleted', id));
      await store.deleteApplication(organization, id, note('application.deleted', 'again'));
      assert.deepEqual(await since(), [
        ['application.created', id],
        ['application.rotated', id],
        ['organization.changed', 'api'],
        ['application.deleted', id],
      ]);
    });

    it('records adding a document, replacing it under its first id, and removing it', async () => {
      const { store } = world();
      const { organization, since } = await watched();
      const [first, second] = [newDocument(), newDocument()];
      await store.removeDocument(organization, first.id, note('document.removed', 'missing'));
      assert.deepEqual(await since(), []);
      await putDocument(store, organization, first);
      const detail = { name: second.name };
      await putDocument(store, organization, second, { as: note('document.added', second.id, { detail }) });
      const [replaced] = (await store.listAudit(organization, { limit: 1 })).events;
      assert.deepEqual(replaced?.detail, detail);
      await store.removeDocument(organization, first.id, note('document.removed', first.id));
      await store.removeDocument(organization, first.id, note('document.removed', 'again'));
      assert.deepEqual(await since(), [
        ['document.added', first.id],
        ['document.replaced', first.id],
        ['document.removed', first.id],
      ]);
    });

    it('is written in the same commit as the change, or neither is written', async () => {
      const { store } = world();
      const { organization, since } = await watched();
      const [key, application, document] = [newKey(), newApplication(), newDocument()];
      await store.createApiKey(organization, key, note('key.created', 'first'));
      // A note that the log cannot store fails together with its change.
      const invalidNote = (action: AuditAction) => note(action, null as unknown as string);
      const created = { id: strangers.organization(), name: 'Spoilt', apiEnabled: true, dailyQuota: 1 };
      const attempts = [
        () => store.createOrganization(created, invalidNote('organization.created')),
        () => store.updateOrganization(organization, { dailyQuota: 99 }, invalidNote('organization.changed')),
        () => store.createApiKey(organization, newKey(2), invalidNote('key.created')),
        () => store.revokeApiKey(organization, key.id, invalidNote('key.revoked')),
        () => store.createApplication(organization, application, invalidNote('application.created')),
        () => putDocument(store, organization, document, { as: invalidNote('document.added') }),
      ];
      for (const attempt of attempts) await assert.rejects(attempt);
      assert.equal(await store.findOrganization(created.id), undefined);
      assert.equal((await store.findOrganization(organization))?.dailyQuota, 10);
      assert.equal(await store.findKeyGrant(fakeHash(2)), undefined);
      assert.ok(await store.findKeyGrant(fakeHash(1)), 'the key is still valid');
      assert.deepEqual(await store.listApplications(organization), []);
      assert.deepEqual(await store.listDocuments(organization), []);
      assert.deepEqual(await since(), [['key.created', 'first']]);
      // A change that fails leaves no note. The key's hash is taken.
      await assert.rejects(() => store.createApiKey(organization, newKey(1), note('key.created', 'taken')));
      assert.deepEqual(await since(), [['key.created', 'first']]);
    });
  });
}

async function inPages(store: Store, organizationId: OrganizationId, limit: number, traceId?: string) {
  const shown = [];
  let before: LogPosition | undefined;
  for (;;) {
    const page = (
      await store.listAudit(organizationId, {
        limit,
        ...(before && { before }),
        ...(traceId !== undefined && { traceId }),
      })
    ).events;
    shown.push(...page);
    const last = page.at(-1);
    if (last === undefined) return shown;
    assert.ok(page.length <= limit);
    before = { at: last.at, id: last.id };
  }
}
