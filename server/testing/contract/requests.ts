import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AuditAction } from '../../src/domain/audit.ts';
import type { AnyAuthority } from '../../src/domain/authority.ts';
import type { OrganizationId } from '../../src/domain/id.ts';
import type { LoggedRequest, Store, TrafficReport } from '../../src/storage/port/store.ts';
import { proof } from './account-fixture.ts';
import { loggedRequest, note, skein, strangers, traceIdAt, trafficReport, type World } from './fixture.ts';

const newest = { before: { at: Number.MAX_SAFE_INTEGER, id: '' }, since: 0, limit: 100 };

type RequestQuery = Parameters<Store['listRequests']>[1];

export function describeRequests(world: () => World): void {
  describe('the request log', () => {
    const entry = (organizationId: OrganizationId, at: number, change: Partial<LoggedRequest> = {}) =>
      loggedRequest({ organizationId, at, ...change });
    const failed = { status: 404, code: 'NOT_FOUND', message: 'No such thread.' };
    const traces = async (
      store: Store,
      organizationId: OrganizationId,
      query: Partial<RequestQuery> = {},
    ): Promise<number[]> => {
      const { requests } = await store.listRequests(organizationId, { ...newest, ...query });
      return requests.map(({ at }) => at);
    };

    it('returns entries as they were written, newest first, on every node', async () => {
      const organization = await world().organization();
      const entries = [
        entry(organization, 1000),
        entry(organization, 2000, { ...failed, method: 'DELETE', operation: 'deleteThread' }),
        // PostgreSQL has no NUL and no lone surrogate in a text.
        entry(organization, 2000, { traceId: traceIdAt(1500), message: 'Ä "quoted" \u2028 a\0b a\ud83d' }),
      ];
      await world().store.addRequests(entries);
      const { requests, searched } = await (await world().node()).listRequests(organization, newest);
      assert.deepEqual(requests, [entries[1], entries[2], entries[0]]);
      assert.equal(searched, null);
      for (const written of entries)
        assert.deepEqual(await world().store.findRequest(organization, written.traceId), written);
      for (const missing of ['missing', traceIdAt(1500, 1), '%'])
        assert.equal(await world().store.findRequest(organization, missing), undefined);
    });

    it('finds slow and quick requests by their trace IDs, each in a block with its earliest trace ID', async () => {
      const { store } = world();
      const organization = await world().organization();
      const answered = (at: number, ms: number) =>
        entry(organization, at, { traceId: traceIdAt(at - ms), latencyUs: ms * 1000 });
      const slow = [answered(100_000, 40_000), answered(100_100, 50_000)];
      const quick = [answered(100_200, 20), answered(100_300, 900), answered(100_400, 0)];
      await store.addRequests([...slow, ...quick]);
      for (const written of [...slow, ...quick])
        assert.deepEqual(await store.findRequest(organization, written.traceId), written);
      // The id of a block tells the search that all of its requests arrived later than the one it looks for.
      assert.deepEqual(await store.findOldRequest(organization, 0), { at: 100_400, id: quick[1]!.traceId });
      assert.deepEqual(await store.findOldRequest(organization, 3), { at: 100_100, id: slow[1]!.traceId });
    });

    it('finds a request during which the clock was set back by a second', async () => {
      const organization = await world().organization();
      const written = entry(organization, 100_000, { traceId: traceIdAt(101_000) });
      await world().store.addRequests([written]);
      assert.deepEqual(await world().store.findRequest(organization, written.traceId), written);
    });

    it('is paged without gaps or repetitions while entries are added', async () => {
      const { store } = world();
      const organization = await world().organization();
      await store.addRequests(
        [1, 2, 2, 2, 3].map((at, place) => entry(organization, at, { traceId: `t${place}` })),
      );
      const found: string[] = [];
      let { before } = newest;
      for (;;) {
        const page = await store.listRequests(organization, { ...newest, before, limit: 2 });
        found.push(...page.requests.map(({ traceId }) => traceId));
        if (page.searched === null) break;
        before = page.searched;
        await store.addRequests([entry(organization, 9, { traceId: `new${found.length}` })]);
      }
      assert.deepEqual(found, ['t4', 't3', 't2', 't1', 't0']);
    });

    it('is paged in the order of time when the entries of several nodes overlap', async () => {
      const organization = await world().organization();
      const nodes = [world().store, await world().node()];
      // Each node writes 40 blocks; their times overlap.
      for (let block = 0; block < 40; block += 1) {
        for (const [node, store] of nodes.entries()) {
          const times = Array.from({ length: 5 }, (_, place) => 20_000 + block * 6 + place * 4 + node);
          await store.addRequests(
            times.map((at, place) => entry(organization, at, { traceId: traceIdAt(at, block * 10 + place) })),
          );
        }
      }
      const found: LoggedRequest[] = [];
      for (let before: RequestQuery['before'] | null = newest.before; before !== null; ) {
        const page = await world().store.listRequests(organization, { ...newest, before, limit: 7 });
        found.push(...page.requests);
        before = page.searched;
      }
      assert.equal(new Set(found.map(({ traceId }) => traceId)).size, 400);
      const places = found.map(({ at, traceId }) => `${at} ${traceId}`);
      assert.deepEqual(places, [...new Set(places)].sort().reverse());
    });

    it('is filtered by status, error code, operation, credential and time', async () => {
      const { store } = world();
      const organization = await world().organization();
      await store.addRequests([
        entry(organization, 1),
        entry(organization, 2, failed),
        entry(organization, 3, { operation: 'listThreads' }),
        entry(organization, 4, { credentialId: 'app_1', ...failed }),
        entry(organization, 5, { status: 500, code: 'INTERNAL_ERROR', message: '' }),
      ]);
      assert.deepEqual(await traces(store, organization, { statusClass: 4 }), [4, 2]);
      assert.deepEqual(await traces(store, organization, { statusClass: 3 }), []);
      assert.deepEqual(await traces(store, organization, { code: 'INTERNAL_ERROR' }), [5]);
      assert.deepEqual(await traces(store, organization, { code: 'FORBIDDEN' }), []);
      assert.deepEqual(await traces(store, organization, { operation: 'listThreads' }), [3]);
      assert.deepEqual(await traces(store, organization, { credentialId: 'app_1', statusClass: 4 }), [4]);
      assert.deepEqual(await traces(store, organization, { since: 3, before: { at: 5, id: '' } }), [4, 3]);
    });

    it('searches a bounded part of the log for a filter, and says where it stopped', async () => {
      const { store } = world();
      const organization = await world().organization();
      const entries = Array.from({ length: 20_000 }, (_, at) => entry(organization, at + 1));
      await store.addRequests([entry(organization, 0, failed), ...entries]);
      const query = { ...newest, statusClass: 4 };
      const first = await store.listRequests(organization, query);
      assert.deepEqual(first.requests, []);
      const searched = 20_000 - first.searched!.at;
      assert.ok(searched >= 5_000 && searched < 10_000, `searched ${searched}`);
      let [page, pages] = [first, 1];
      for (; page.searched !== null && pages < 10; pages += 1)
        page = await store.listRequests(organization, { ...query, before: page.searched });
      assert.deepEqual([page.requests.map(({ at }) => at), page.searched], [[0], null]);
      assert.ok(pages >= 3, `${pages} pages`);
    });

    it('stores an entry only once if it is written twice, and drops entries of an organization that is gone', async () => {
      const { store } = world();
      const organization = await world().organization();
      const entries = [entry(organization, 1), entry(strangers.organization(), 1)];
      await store.addRequests(entries);
      await store.addRequests(entries);
      assert.deepEqual(await traces(store, organization), [1]);
      await store.addRequests([]);
    });

    it('stores nothing of a batch with a value that the database rejects, and says so', async () => {
      const { store } = world();
      const organization = await world().organization();
      const traffic = [count(organization)];
      const rejected = entry(organization, Number.NaN, { traceId: traceIdAt(2) });
      assert.equal(await store.addRequests([entry(organization, 1), rejected]), false);
      assert.equal(await store.addTraffic([...traffic, count(organization, { bucket: Number.NaN })]), false);
      assert.deepEqual(await traces(store, organization), []);
      assert.deepEqual(await store.listTraffic(organization, 'day', 0, 100), []);
      assert.equal(await store.addRequests([entry(organization, 1)]), true);
      assert.equal(await store.addTraffic(traffic), true);
      assert.deepEqual(await traces(store, organization), [1]);
    });

    it('is cut back to its newest entries, in batches', async () => {
      const { store } = world();
      const organization = await world().organization();
      const other = await world().organization();
      await store.addRequests(
        Array.from({ length: 5_000 }, (_, at) => entry(organization, at)).concat(entry(other, 1)),
      );
      assert.equal(await store.findOldRequest(organization, 5_000), undefined);
      const edge = await store.findOldRequest(organization, 150);
      // Entries are removed in blocks of up to 100.
      assert.ok(edge!.at < 4_850 && edge!.at >= 4_750, String(edge!.at));
      const removed = [];
      for (;;) {
        const count = await store.removeRequests(organization, edge!);
        if (count === 0) break;
        removed.push(count);
      }
      assert.deepEqual(removed, [20, 20, 8]);
      const kept = Array.from({ length: 4_999 - edge!.at }, (_, place) => 4_999 - place);
      assert.deepEqual(await traces(store, organization, { limit: 1_000 }), kept);
      assert.deepEqual(await traces(store, other), [1]);
    });

    it('of one organization is not visible in another', async () => {
      const { store } = world();
      const [home, foreign] = [await world().organization(), await world().organization()];
      await store.addRequests([entry(home, 1)]);
      await store.addTraffic([count(home)]);
      assert.deepEqual(await traces(store, foreign), []);
      assert.equal(await store.findRequest(foreign, traceIdAt(1)), undefined);
      assert.equal(await store.removeRequests(foreign, { at: 9, id: '' }), 0);
      assert.deepEqual(await store.listTraffic(foreign, 'day', 0, 100), []);
      assert.deepEqual(await traces(store, home), [1]);
    });

    it('comes with an audit log that is searched by actor, action and time, in bounded parts', async () => {
      const { store, clock } = world();
      const organization = await world().organization();
      const userId = await world().member(organization, 'ada@example.org');
      const start = clock.ms;
      const write = async (action: AuditAction, authority: AnyAuthority) => {
        clock.pass(1000);
        await store.writeAudit(organization, note(action, 'key_1', { authority }));
      };
      await write('key.created', proof(userId));
      await write('key.revoked', proof(userId));
      await write('key.revoked', skein);
      const all = { before: { at: Number.MAX_SAFE_INTEGER, id: '' }, since: 0, limit: 10 };
      const found = async (query: object) =>
        (await store.listAudit(organization, { ...all, ...query })).events.map(
          ({ at }) => (at - start) / 1000,
        );
      assert.deepEqual(await found({ actor: userId }), [2, 1]);
      assert.deepEqual(await found({ actor: 'skein' }), [3]);
      assert.deepEqual(await found({ actor: userId, action: 'key.revoked' }), [2]);
      assert.deepEqual(await found({ since: start + 2000 }), [3, 2]);
      assert.deepEqual(await found({ before: { at: start + 2000, id: '' }, action: 'key.created' }), [1]);
      const page = await store.listAudit(organization, { ...all, limit: 1, actor: userId });
      assert.equal(page.searched?.at, start + 2000);
      assert.equal((await store.listAudit(organization, { ...all, actor: userId })).searched, null);
      assert.deepEqual(
        (await store.listAudit(await world().organization(), { ...all, actor: userId })).events,
        [],
      );
    });

    const count = (organizationId: OrganizationId, change: Partial<TrafficReport> = {}) =>
      trafficReport({ organizationId, hour: 240, bucket: 3, ...change });

    it('counts traffic by hour and by day without loss when two nodes add at the same time', async () => {
      const organization = await world().organization();
      const nodes = [world().store, await world().node()];
      const counts = [
        count(organization),
        count(organization, { bucket: 4, requests: 2 }),
        count(organization, { credentialId: null, hour: 241, requests: 3 }),
        count(strangers.organization()),
      ];
      await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          nodes[index % 2]!.addTraffic(index % 4 < 2 ? counts : counts.toReversed()),
        ),
      );
      const shown = { period: 10, operation: 'getThread', outcome: 'OK' };
      assert.deepEqual(await nodes[0]!.listTraffic(organization, 'day', 10, 10), [
        { ...shown, bucket: 3, requests: 80 },
        { ...shown, bucket: 4, requests: 40 },
      ]);
      assert.deepEqual(await nodes[1]!.listTraffic(organization, 'hour', 0, 241), [
        { ...shown, period: 240, bucket: 3, requests: 20 },
        { ...shown, period: 240, bucket: 4, requests: 40 },
        { ...shown, period: 241, bucket: 3, requests: 60 },
      ]);
      const [used, ...others] = await nodes[0]!.listUsage(organization, 10, 10, 10);
      assert.deepEqual([used?.requests, others], [60, []], 'replies have no credential');
      assert.deepEqual(await nodes[1]!.listTraffic(organization, 'day', 11, 20), []);
    });
  });
}
