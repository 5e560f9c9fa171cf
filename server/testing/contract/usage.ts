import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyId, OrganizationId, UserId } from '../../src/domain/id.ts';
import { dayMs } from '../../src/domain/time.ts';
import type { TrafficReport } from '../../src/storage/port/store.ts';
import { fakeHash, newApplication, note, operator, strangers, trafficReport, type World } from './fixture.ts';

const day = 20_000;
const hour = 24 * day;

export function describeUsages(world: () => World): void {
  describe('usage', () => {
    const report = (organizationId: OrganizationId, change: Partial<TrafficReport> = {}) =>
      trafficReport({ organizationId, hour, operation: 'listThreads', ...change });
    /** What a listing shows. */
    const count = ({ credentialId, operation, outcome, requests, ...reported }: TrafficReport) => {
      return { day: Math.floor(reported.hour / 24), credentialId, operation, outcome, requests };
    };

    it('is added up by day, credential, operation and outcome', async () => {
      const { store } = world();
      const organization = await world().organization();
      const kinds = [
        report(organization),
        report(organization, { outcome: 'NOT_FOUND' }),
        report(organization, { operation: 'getThread' }),
        report(organization, { credentialId: 'key_2' }),
        report(organization, { hour: hour + 24 }),
      ];
      await store.addTraffic(kinds);
      const others = [{ requests: 20 }, { requests: 19, hour: hour + 23 }, { bucket: 9 }];
      await store.addTraffic([...kinds, ...others.map((other) => report(organization, other))]);
      const listed = await store.listUsage(organization, day, day + 1, 100);
      assert.deepEqual(
        listed,
        [
          { ...count(kinds[2]!), requests: 2 },
          { ...count(kinds[1]!), requests: 2 },
          { ...count(kinds[0]!), requests: 42 },
          { ...count(kinds[3]!), requests: 2 },
          { ...count(kinds[4]!), requests: 2 },
        ],
        'in the order of day, credential, operation and outcome',
      );
    });

    it('is listed up to a limit, without the oldest', async () => {
      const { store } = world();
      const organization = await world().organization();
      const counts = ['key_1', 'key_2', 'key_3'].map((credentialId) =>
        report(organization, { credentialId }),
      );
      await store.addTraffic(counts);
      assert.deepEqual(await store.listUsage(organization, day, day, 2), counts.slice(1).map(count));
    });

    it('is listed for the owner of keys, however much others use', async () => {
      const { store } = world();
      const [organization, foreign] = [await world().organization(), await world().organization()];
      const [ada, ben] = [await world().member(organization), await world().member(organization)];
      const addKey = async (userId: UserId | null, number: number) => {
        const key = {
          id: strangers.key(),
          name: '',
          userId,
          hash: fakeHash(number),
          hint: '',
          createdBy: null,
        };
        assert.equal(await store.createApiKey(organization, key, note()), 'created');
        return key.id;
      };
      const [first, second] = [await addKey(ada, 1), await addKey(ada, 2)].toSorted();
      const [others, shared] = [await addKey(ben, 3), await addKey(null, 4)];
      const own = [first!, second!].map((credentialId) => report(organization, { credentialId }));
      const later = [others, shared, newApplication().id, 'key_removed'].map((credentialId) =>
        report(organization, { credentialId, hour: hour + 24 }),
      );
      await store.addTraffic([...own, ...later, report(foreign, { credentialId: first! })]);
      const listed = (limit: number) => store.listUsage(organization, day, day + 1, limit, ada);
      assert.deepEqual(await listed(2), own.map(count), 'the limit is of their own');
      assert.deepEqual(await listed(1), own.slice(1).map(count));
      await store.revokeApiKey(organization, second as KeyId, note());
      assert.deepEqual(await listed(2), own.map(count), 'including revoked keys');
      assert.deepEqual(await store.listUsage(foreign, day, day, 100, ada), []);
      for (const [from, to] of [
        [day + 1, day + 2],
        [day + 1, day],
        [0, day - 1],
      ] as const)
        assert.deepEqual(await store.listUsage(organization, from, to, 100, ada), []);
    });

    it('is listed for the given days, including the first and the last', async () => {
      const { store } = world();
      const organization = await world().organization();
      for (const offset of [0, 1, 2, 3, 4])
        await store.addTraffic([report(organization, { hour: hour + 24 * offset })]);
      const days = async (first: number, last: number) =>
        (await store.listUsage(organization, first, last, 100)).map((counted) => counted.day - day);
      assert.deepEqual(await days(day + 1, day + 3), [1, 2, 3]);
      assert.deepEqual(await days(day + 2, day + 2), [2]);
      assert.deepEqual(await days(0, day - 1), []);
      assert.deepEqual(await days(day + 3, day + 1), []);
    });

    it('loses nothing when two nodes add at the same time', async () => {
      const organization = await world().organization();
      const nodes = [world().store, await world().node()];
      const kinds = ['a', 'b', 'c', 'd'].map((credentialId) => report(organization, { credentialId }));
      await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          nodes[index % 2]!.addTraffic(index % 4 < 2 ? kinds : kinds.toReversed()),
        ),
      );
      assert.deepEqual(
        (await world().store.listUsage(organization, day, day, 100)).map(({ requests }) => requests),
        [40, 40, 40, 40],
      );
    });

    describe('of prompts in the console', () => {
      const limit = { period: 'day', personMax: 2, organizationMax: 3 } as const;
      /** Twelve hours after the clock's start. */
      const midnight = { over: 'person', resetMs: 12 * 3_600_000 } as const;

      it('is limited for a person and for the organization', async () => {
        const { store } = world();
        const [organization, other] = [await world().organization(), await world().organization()];
        const ada = await world().member(organization, 'ada@example.org');
        const ben = await world().member(organization);
        const count = (user: UserId) => store.countPrompt(organization, user, limit, operator);
        assert.equal(await count(ada), 'counted');
        assert.equal(await count(ada), 'counted');
        assert.deepEqual(await count(ada), midnight);
        assert.deepEqual(await count(ada), midnight, 'which does not count for the organization');
        assert.equal(await count(ben), 'counted');
        assert.deepEqual(await count(ben), { ...midnight, over: 'organization' });
        assert.equal(await world().member(other, 'ada@example.org'), ada);
        assert.equal(await store.countPrompt(other, ada, limit, operator), 'counted');
      });

      it('resets with each period of the store and never returns to an earlier one', async () => {
        const { store, clock } = world();
        const organization = await world().organization();
        const ada = await world().member(organization);
        const count = (period: 'minute' | 'day') =>
          store.countPrompt(organization, ada, { period, personMax: 1, organizationMax: 9 }, operator);
        assert.equal(await count('minute'), 'counted');
        clock.pass(59_999);
        assert.deepEqual(await count('minute'), { over: 'person', resetMs: 1 });
        assert.equal(await count('day'), 'counted');
        clock.pass(1);
        assert.equal(await count('minute'), 'counted');
        clock.ms -= 1;
        const reached = { over: 'person' } as const;
        assert.partialDeepStrictEqual(await count('minute'), reached, 'after the clock was set back');
        assert.partialDeepStrictEqual(await count('day'), reached);
        clock.pass(12 * 3_600_000);
        assert.equal(await count('day'), 'counted');
      });

      it('resets after a clock was several periods ahead for a while', async () => {
        const { store, clock } = world();
        const organization = await world().organization();
        const ada = await world().member(organization);
        for (const [period, ms] of [
          ['minute', 60_000],
          ['day', dayMs],
          ['mail', dayMs],
        ] as const) {
          const count = () =>
            store.countPrompt(organization, ada, { period, personMax: 1, organizationMax: 1 }, operator);
          clock.ms += 4 * ms;
          assert.equal(await count(), 'counted', period);
          clock.ms -= 4 * ms;
          clock.pass(2 * ms);
          assert.equal(await count(), 'counted', period);
          assert.partialDeepStrictEqual(await count(), { over: 'person' }, period);
        }
      });

      it('is exact when two nodes count at the same time', async () => {
        const organization = await world().organization();
        const [ada, ben] = [await world().member(organization), await world().member(organization)];
        const nodes = [world().store, await world().node()];
        const outcomes = await Promise.all(
          Array.from({ length: 60 }, (_, index) =>
            nodes[index % 2]!.countPrompt(
              organization,
              index % 4 < 2 ? ada : ben,
              {
                ...limit,
                personMax: 20,
                organizationMax: 30,
              },
              operator,
            ),
          ),
        );
        assert.equal(outcomes.filter((outcome) => outcome === 'counted').length, 30);
      });
    });

    it('accepts an empty report', async () => {
      const { store } = world();
      const organization = await world().organization();
      await store.addTraffic([]);
      assert.deepEqual(await store.listUsage(organization, 0, day, 100), []);
    });

    it('keeps the newest time at which a key or application was used, in any order of reports', async () => {
      const { store } = world();
      const other = await world().node();
      const organization = await world().organization();
      const userId = await world().member(organization);
      const key = {
        id: strangers.key(),
        name: '',
        userId: null,
        hash: fakeHash(1),
        hint: '',
        createdBy: userId,
      };
      const application = newApplication();
      await store.createApiKey(organization, key, note());
      await store.createApplication(organization, application, note());
      const lastUsed = async () => [
        (await store.listApiKeys(organization))[0]?.lastUsedAt,
        (await store.listApplications(organization))[0]?.lastUsedAt,
      ];
      assert.deepEqual(await lastUsed(), [null, null]);
      const of = (credentialId: string, lastAt: number) => report(organization, { credentialId, lastAt });
      await store.addTraffic([of(key.id, 5000), of(key.id, 3000), of(application.id, 4000)]);
      assert.deepEqual(await lastUsed(), [5000, 4000]);
      await other.addTraffic([of(key.id, 4999), of(application.id, 4001)]);
      assert.deepEqual(await lastUsed(), [5000, 4001]);
      await store.addTraffic([of(key.id, 5000 + dayMs), of(application.id, 5000 + 30 * dayMs)]);
      await store.addTraffic([of(key.id, 6000), of(application.id, 6000)]);
      assert.deepEqual(await lastUsed(), [5000 + dayMs, 6000], 'after a clock was 30 days ahead');
    });

    it('of one organization is not visible in another, even with the same credential', async () => {
      const { store } = world();
      const [home, foreign] = [await world().organization(), await world().organization()];
      const key = {
        id: strangers.key(),
        name: '',
        userId: null,
        hash: fakeHash(1),
        hint: '',
        createdBy: null,
      };
      await store.createApiKey(home, key, note());
      await store.addTraffic([report(foreign, { credentialId: key.id, requests: 7 })]);
      assert.deepEqual(await store.listUsage(home, day, day, 100), []);
      assert.equal((await store.listApiKeys(home))[0]?.lastUsedAt, null);
      assert.equal((await store.listUsage(foreign, day, day, 100))[0]?.requests, 7);
    });

    it('of the quota is read without counting a request, on every node', async () => {
      const { store } = world();
      const other = await world().node();
      const organization = await world().organization({ dailyQuota: 2 });
      assert.deepEqual(await store.readQuota(organization, day), { used: 0, limit: 2 });
      for (let request = 0; request < 3; request += 1) await world().use(organization, day);
      for (const node of [store, other]) {
        assert.deepEqual(await node.readQuota(organization, day), { used: 2, limit: 2 });
        assert.deepEqual(await node.readQuota(organization, day + 1), { used: 0, limit: 2 });
      }
      await store.updateOrganization(organization, { dailyQuota: 1 }, note());
      assert.deepEqual(await other.readQuota(organization, day), { used: 2, limit: 1 });
      assert.equal(await store.readQuota(strangers.organization(), day), undefined);
    });
  });
}
