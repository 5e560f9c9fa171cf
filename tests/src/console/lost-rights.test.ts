import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ConsoleClient, type ConsoleResponse } from '../../harness/console/console-client.ts';
import { type SettingsWorld, sharedSettingsWorld, signUp } from '../../harness/console/settings-world.ts';
import { assertDone, assertRefused, Visitor } from '../../harness/console/visitor.ts';
import { Service } from '../../harness/service/service.ts';
import { sharedService } from '../../harness/service/shared-service.ts';
import { describeOnEachEngine } from '../../harness/world/engines.ts';

// An organization may have 100 applications.
const rounds = 3;
const sendersPerNode = 4;

describeOnEachEngine('An admin whose requests are in flight, on two processes,', (engine) => {
  let world: SettingsWorld;
  let second: Service;
  before(async () => {
    const store = await engine.sharedStore();
    world = await sharedSettingsWorld(store);
    const { folder } = await sharedService(store);
    second = await Service.start({ folder, environment: { SKEIN_MODEL: 'scripted', ...store } });
  });
  after(() => second.end());

  /** The same browser at both processes. */
  function atBoth(visitor: Visitor): readonly Visitor[] {
    const client = new ConsoleClient(second.baseUrl);
    for (const [name, value] of visitor.client.cookies) client.cookies.set(name, value);
    Object.assign(client, { csrfToken: visitor.client.csrfToken, session: visitor.client.session });
    return [visitor, new Visitor(client, world.acme)];
  }

  /**
   * Takes the right away while requests are in flight at both processes. Each sender sends its next request when the one
   * before is answered, until one is refused or the right is gone, so that requests are under way at every moment.
   */
  async function flood(
    visitor: Visitor,
    buildRequest: (from: Visitor, place: number) => Promise<ConsoleResponse>,
    takeAway: () => Promise<ConsoleResponse>,
  ): Promise<readonly ConsoleResponse[]> {
    const answers: ConsoleResponse[] = [];
    let isOver = false;
    const sendUntilRefused = async (from: Visitor, place: number): Promise<void> => {
      let answer: ConsoleResponse;
      do {
        answer = await buildRequest(from, place);
        answers.push(answer);
      } while (!isOver && answer.status < 400);
    };
    const senders = atBoth(visitor).flatMap((from) =>
      Array.from({ length: sendersPerNode }, (_, place) => sendUntilRefused(from, place)),
    );
    assertDone(await takeAway());
    isOver = true;
    await Promise.all(senders);
    return answers;
  }

  const hire = (name: string) => signUp(world.service, world.acme, world.email(name), 'admin');

  it('stays demoted, whatever role they give themselves meanwhile', async () => {
    let refused = 0;
    for (let round = 0; round < rounds; round += 1) {
      const mallory = await hire(`mallory-${round}`);
      const ownRole = `/members/${mallory.userId}`;
      const answers = await flood(
        mallory,
        (from) => from.patch(ownRole, { role: 'admin' }),
        () => world.ada.patch(ownRole, { role: 'member' }),
      );
      refused += answers.filter(({ status }) => status === 403).length;
      const { members } = assertDone(await world.ada.get('/members'));
      assert.equal(members.find(({ id }: any) => id === mallory.userId).role, 'member');
      assertRefused(await mallory.get('/members'), 403);
    }
    assert.ok(refused > 0, 'no request was still in flight');
  });

  it('revokes no keys of others after a demotion', async () => {
    for (let round = 0; round < rounds; round += 1) {
      const mallory = await hire(`mallory-revokes-${round}`);
      const keys = Array.from({ length: 12 * sendersPerNode }, async (_, place) =>
        assertDone(await world.ada.post('/keys', { name: `r${place}`, scope: 'org-wide' }), 201),
      );
      const ids: string[] = (await Promise.all(keys)).map(({ id }) => id);
      const revoked = async () =>
        assertDone(await world.ada.get('/keys'))
          .keys.filter(({ id, revokedAt }: any) => ids.includes(id) && revokedAt !== null)
          .map(({ id }: any) => id)
          .sort();
      let next = 0;
      let atDemotion: string[] = [];
      await flood(
        mallory,
        (from) => {
          next += 1;
          return from.post(`/keys/${ids[next % ids.length]}/revoke`);
        },
        async () => {
          const demoted = await world.ada.patch(`/members/${mallory.userId}`, { role: 'member' });
          atDemotion = await revoked();
          return demoted;
        },
      );
      assert.deepEqual(await revoked(), atDemotion);
      assert.ok(atDemotion.length < ids.length, 'no request was still in flight');
    }
  });

  describe('creates nothing after their removal:', () => {
    const kinds = {
      keys: (from, place) => from.post('/keys', { name: `k${place}`, scope: 'org-wide' }),
      applications: (from, place) => from.post('/applications', { name: `a${place}` }),
      members: (from, place) =>
        from.post('/members', {
          email: world.email(`mole-${place}-${Math.random()}`),
          role: 'admin',
          service: false,
        }),
    } satisfies Record<string, (from: Visitor, place: number) => Promise<ConsoleResponse>>;

    for (const [kind, request] of Object.entries(kinds)) {
      it(kind, async () => {
        let refused = 0;
        for (let round = 0; round < rounds; round += 1) {
          const mallory = await hire(`mallory-${kind}-${round}`);
          const listed = async () =>
            assertDone(await world.ada.get(`/${kind}`))
              [kind].map(({ id }: any) => id)
              .sort();
          let atRemoval: string[] = [];
          const answers = await flood(mallory, request, async () => {
            const removed = await world.ada.delete(`/members/${mallory.userId}`);
            atRemoval = await listed();
            return removed;
          });
          assert.deepEqual(await listed(), atRemoval);
          for (const { status } of answers) assert.ok([201, 401, 404].includes(status), `${status}`);
          refused += answers.filter(({ status }) => status !== 201).length;
        }
        assert.ok(refused > 0, 'no request was still in flight');
      });
    }
  });
});
