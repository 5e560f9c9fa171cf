import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { OrganizationId, ThreadId } from '../../src/domain/id.ts';
import { retentionKinds } from '../../src/domain/retention.ts';
import { blocksPerRemoval } from '../../src/storage/sql/requests.ts';
import { Accounting, day, newInvitation, newSession, proof } from './account-fixture.ts';
import {
  by,
  fakeHash,
  granted,
  loggedRequest,
  newApplication,
  newFollowUp,
  newThread,
  note,
  noteBy,
  operator,
  strangers,
  traceIdAt,
  trafficReport,
  type World,
} from './fixture.ts';

export function describeRetention(world: () => World): void {
  describe('retention', () => {
    it('removes a deleted thread with its messages and idempotency keys, and nothing else', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const ada = await world().member(organization);
      const idempotency = { key: 'once', bodyHash: 'h', keepMs: 100 * day };
      const [old, recent, live] = [
        await world().thread(organization, ada, { idempotency }),
        await world().thread(organization, ada),
        await world().thread(organization, ada),
      ];
      await store.renameThread(organization, old.id, 'Renamed', by(ada));
      await store.setThreadPublished(organization, old.id, true, note());
      await store.deleteThread(organization, old.id, noteBy(ada));
      clock.pass(2 * day);
      await store.deleteThread(organization, recent.id, noteBy(ada));
      clock.pass(day);
      assert.equal(await store.countExpired('deleted_threads', 2 * day), 1);
      assert.equal((await world().removeAll('deleted_threads', 2 * day)).removed, 1);
      assert.equal(await store.countExpired('deleted_threads', 2 * day), 0);
      assert.equal(await store.getThread(organization, old.id), undefined);
      assert.deepEqual(await world().replyDetails(organization, old.id), []);
      assert.equal((await store.getThread(organization, recent.id))?.messages.length, 2);
      assert.deepEqual(await world().walk(organization, { userId: ada }), [live.id]);
      assert.equal((await store.beginWalk(organization, { userId: ada }, 1)).size, 1);
      assert.equal(await store.restoreThread(organization, old.id, 600_000, noteBy(ada)), 'missing');
      const again = newThread(ada, { idempotency });
      assert.equal(
        granted(await store.createThread(organization, again, by(again.userId))).outcome,
        'created',
      );
    });

    it('removes the sizes of an account with its last thread', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const ada = await world().member(organization);
      const remove = async (accountId: string) => {
        const { id } = await world().thread(organization, ada, { accountId });
        await store.setThreadPublished(organization, id, true, note());
        await store.deleteThread(organization, id, noteBy(ada));
      };
      const sizes = async () => (await store.countPurge(organization, null)).listing_size;
      await world().thread(organization, ada, { accountId: 'kept' });
      const before = await sizes();
      for (const accountId of ['left', 'kept']) await remove(accountId);
      clock.pass(2 * day);
      await world().removeAll('deleted_threads', day);
      // Only the size of all published threads is new. It names no account.
      assert.equal(await sizes(), before! + 1);
    });

    it('removes a long thread in several batches, its row with the last one', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const ada = await world().member(organization);
      const { id } = await world().thread(organization, ada);
      for (let turn = 0; turn < 250; turn += 1) {
        await store.cancelReplies(organization, id, operator);
        assert.equal(
          granted(await store.addReply(organization, id, newFollowUp(), by(ada))).outcome,
          'added',
        );
      }
      await store.deleteThread(organization, id, noteBy(ada));
      clock.pass(2 * day);
      const first = await store.removeExpired('deleted_threads', day, '');
      assert.deepEqual({ ...first, rows: first.rows > 0 }, { removed: 0, rows: true, next: '' });
      const left = (await store.getThread(organization, id))!.messages.length;
      assert.ok(left > 0 && left < 502, `${left} messages left`);
      assert.equal((await world().removeAll('deleted_threads', day)).removed, 1);
      assert.equal(await store.getThread(organization, id), undefined);
    });

    it('removes at most 500 messages in a batch, however many organizations they belong to', async () => {
      const { store, clock } = world();
      const threads: { organization: OrganizationId; id: ThreadId }[] = [];
      for (let round = 0; round < 2; round += 1) {
        const organization = await world().organization();
        const ada = await world().member(organization);
        const { id } = await world().thread(organization, ada);
        for (let turn = 0; turn < 130; turn += 1) {
          await store.cancelReplies(organization, id, operator);
          assert.equal(
            granted(await store.addReply(organization, id, newFollowUp(), by(ada))).outcome,
            'added',
          );
        }
        await store.deleteThread(organization, id, noteBy(ada));
        threads.push({ organization, id });
      }
      clock.pass(2 * day);
      await store.removeExpired('deleted_threads', day, '');
      let left = 0;
      for (const { organization, id } of threads)
        left += (await store.getThread(organization, id))?.messages.length ?? 0;
      assert.ok(left >= 2 * 262 - 500, `${left} messages left`);
      await world().removeAll('deleted_threads', day);
      for (const { organization, id } of threads)
        assert.equal(await store.getThread(organization, id), undefined);
    });

    it('removes audit events, request counts and past quotas by age', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const today = () => Math.floor(clock.ms / day);
      const useAll = async () => {
        await store.writeAudit(organization, note());
        await world().use(organization, today());
        const hour = Math.floor(clock.ms / 3_600_000);
        await store.addRequests([loggedRequest({ organizationId: organization, at: clock.ms })]);
        await store.addTraffic([trafficReport({ organizationId: organization, hour })]);
      };
      for (let turn = 0; turn < 4; turn += 1) {
        await useAll();
        clock.pass(day);
      }
      const before = (await store.listAudit(organization, { limit: 100 })).events.length;
      const old = (await world().removeAll('audit_events', 2.5 * day)).removed;
      assert.ok(old > 0);
      const kept = (await store.listAudit(organization, { limit: 100 })).events;
      assert.equal(kept.length, before - old);
      assert.ok(kept.every(({ at }) => at >= clock.ms - 2.5 * day));
      assert.equal((await world().removeAll('usage_days', 2 * day)).removed, 2);
      const counts = await store.listUsage(organization, 0, today(), 100);
      assert.deepEqual(
        counts.map((count) => count.day - today()),
        [-2, -1],
      );
      assert.equal((await world().removeAll('requests', 2.5 * day)).removed, 2);
      assert.ok(await store.findRequest(organization, traceIdAt(clock.ms - 2 * day)));
      assert.equal(await store.findRequest(organization, traceIdAt(clock.ms - 3 * day)), undefined);
      assert.equal((await world().removeAll('traffic_hours', day)).removed, 3);
      assert.equal((await world().removeAll('traffic_days', 2 * day)).removed, 2);
      assert.equal((await world().removeAll('quota_days', day)).removed, 3);
      assert.equal((await store.readQuota(organization, today() - 1))?.used, 1);
      assert.equal((await store.readQuota(organization, today() - 2))?.used, 0);
    });

    it('removes blocks of the request log in small commits', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      // One block for each minute.
      const times = Array.from({ length: 2_000 }, (_, minute) => clock.ms - 2 * day - minute * 60_000);
      await store.addRequests(times.map((at) => loggedRequest({ organizationId: organization, at })));
      assert.equal(await store.countExpired('requests', day), 2_000);
      let isDone = false;
      const removing = world()
        .removeAll('requests', day)
        .finally(() => {
          isDone = true;
        });
      const left = new Set<number>();
      while (!isDone) {
        left.add(await store.countExpired('requests', day));
        await turn();
      }
      assert.equal((await removing).removed, 2_000);
      // Batches of 500 blocks would show five.
      assert.ok(left.size > 6, `readers saw ${[...left]}`);
      for (const count of left) assert.equal(count % blocksPerRemoval, 0);
    });

    it('removes expired idempotency keys, sessions and invitations', async () => {
      const { store, clock } = world();
      const people = new Accounting(world());
      const organization = await world().organization();
      const [ada, eve] = [
        await people.add(organization, 'ada@example.org'),
        await people.add(organization, 'eve@example.org'),
      ];
      const make = async (userId: typeof ada, keepMs: number) => {
        const idempotency = { key: `${keepMs}`, bodyHash: 'h', keepMs };
        await world().thread(organization, userId, { idempotency });
        const session = newSession(userId, { idleMs: keepMs });
        const started = note('session.started', userId, { authority: proof(userId) });
        assert.equal(await store.createSession(session, started), 'created');
        const invitation = newInvitation(userId, { keepMs, byOperator: true });
        assert.equal(await store.createInvitation(organization, invitation, note()), 'created');
        return { session: session.tokenHash, invitation: invitation.tokenHash };
      };
      await make(ada, day);
      const live = await make(eve, 5 * day);
      clock.pass(2 * day);
      const kinds = ['idempotency_keys', 'sessions', 'invitations'] as const;
      for (const kind of kinds) {
        assert.equal(
          (await world().removeAll(kind, 2 * day)).removed,
          0,
          `${kind} are kept for as long as asked for`,
        );
        assert.equal(await store.countExpired(kind, 0), 1);
        assert.equal((await world().removeAll(kind, 0)).removed, 1, kind);
        assert.equal(await store.countExpired(kind, 0), 0);
      }
      assert.ok(await store.findSession(live.session, organization));
      assert.ok(await store.findInvitation(live.invitation));
      const idempotency = { key: `${5 * day}`, bodyHash: 'h', keepMs: day };
      const repeated = granted(
        await store.createThread(organization, newThread(eve, { idempotency }), by(eve)),
      );
      assert.equal(repeated.outcome, 'repeated');
    });

    it('removes a revoked key with the time of its last use, and no key that is or was just live', async () => {
      const { store, clock } = world();
      const organizationId = await world().organization();
      const secret = (byte: number) => ({ id: strangers.key(), hash: fakeHash(byte), hint: '' });
      const [old, live, recent, ending] = [secret(1), secret(2), secret(3), secret(4)];
      for (const key of [old, live, recent, ending]) {
        const created = { ...key, name: '', userId: null, createdBy: null };
        assert.equal(await store.createApiKey(organizationId, created, note()), 'created');
        await store.addTraffic([trafficReport({ organizationId, credentialId: key.id })]);
      }
      await store.revokeApiKey(organizationId, old.id, note());
      const rotation = { next: secret(5), createdBy: null, oldValidMs: 30 * day };
      assert.equal(await store.rotateApiKey(organizationId, ending.id, rotation, note()), 'rotated');
      clock.pass(2 * day);
      await store.revokeApiKey(organizationId, recent.id, note());
      clock.pass(day);
      assert.equal(await store.countExpired('revoked_keys', 2 * day), 1);
      assert.equal((await world().removeAll('revoked_keys', 2 * day)).removed, 1);
      assert.equal(await store.findApiKey(organizationId, old.id), undefined);
      for (const { id } of [live, recent, ending])
        assert.equal((await store.findApiKey(organizationId, id))?.lastUsedAt, 1);
      assert.equal((await store.countPurge(organizationId, null)).credential_use, 3);
      assert.ok(await store.findKeyGrant(live.hash));
    });

    it('keeps nothing of a deleted application, even if its use is reported later', async () => {
      const { store } = world();
      const organizationId = await world().organization();
      const application = newApplication();
      const { id } = application;
      await store.createApplication(organizationId, application, note());
      const report = () => store.addTraffic([trafficReport({ organizationId, credentialId: id })]);
      await report();
      assert.equal((await store.countPurge(organizationId, null)).credential_use, 1);
      await store.deleteApplication(organizationId, id, note());
      await report();
      const left = await store.countPurge(organizationId, null);
      assert.deepEqual([left.application ?? 0, left.credential_use ?? 0, left.usage_day], [0, 0, 1]);
    });

    it('keeps a running walk correct when all moves are removed', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const ada = await world().member(organization);
      const threads = [];
      for (let turn = 0; turn < 4; turn += 1) {
        threads.unshift(await world().thread(organization, ada));
        clock.pass(1000);
      }
      await store.renameThread(organization, threads[3]!.id, 'Long ago', by(ada));
      clock.pass(2 * day);
      const first = await store.beginWalk(organization, { userId: ada }, 1);
      assert.equal((await world().removeAll('thread_moves', day)).removed, 1);
      await store.renameThread(organization, threads[1]!.id, 'During the walk', by(ada));
      const rest = await world().restOfWalk(organization, { userId: ada }, 1, first);
      assert.deepEqual(
        [...first.rows.map(({ thread }) => thread.id), ...rest],
        [threads[3]!, threads[0]!, threads[1]!, threads[2]!].map(({ id }) => id),
      );
    });

    it('visits all organizations, and two nodes remove each row once', async () => {
      const { store, clock } = world();
      const organizations = await Promise.all(Array.from({ length: 501 }, () => world().organization()));
      organizations.sort();
      const other = await world().node();
      const [first, last] = [organizations[0]!, organizations.at(-1)!];
      for (let turn = 0; turn < 20; turn += 1) await store.writeAudit(turn % 2 ? first : last, note());
      clock.pass(2 * day);
      const both = await Promise.all([
        world().removeAll('audit_events', day, store),
        world().removeAll('audit_events', day, other),
      ]);
      assert.equal(both[0].removed + both[1].removed, 521, 'with the notes of their creation');
      assert.ok(both[0].batches > 1 && both[1].batches > 1, 'each batch looks at 500 organizations');
      assert.deepEqual((await store.listAudit(last, { limit: 10 })).events, []);
    });

    it('finds nothing to do in an empty store', async () => {
      for (const kind of retentionKinds) {
        assert.deepEqual(await world().store.removeExpired(kind, 0, ''), { removed: 0, rows: 0, next: null });
        assert.equal(await world().store.countExpired(kind, 0), 0);
      }
    });
  });
}
