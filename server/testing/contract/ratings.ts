import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LogPosition } from '../../src/domain/cursor.ts';
import type { OrganizationId, UserId } from '../../src/domain/id.ts';
import type { NewThread, Store, UnansweredReply } from '../../src/storage/port/store.ts';
import { Accounting } from './account-fixture.ts';
import {
  by,
  completed,
  granted,
  newFollowUp,
  newRetry,
  note,
  noteBy,
  strangers,
  type World,
} from './fixture.ts';

const up = { value: 'up', comment: null } as const;
const down = { value: 'down', comment: 'Not in 2026. 🧶' } as const;

export function describeRatings(world: () => World): void {
  async function createOrganization(count: number): Promise<[OrganizationId, ...UserId[]]> {
    const organization = await world().organization();
    const members: UserId[] = [];
    for (let at = 0; at < count; at += 1) members.push(await world().member(organization));
    return [organization, ...members];
  }
  async function ask(
    organization: OrganizationId,
    userId: UserId,
    { unanswered = false, published = true, prompt = 'Why?' } = {},
  ): Promise<NewThread> {
    const { store, clock } = world();
    const thread = await world().thread(organization, userId, { prompt });
    if (published) await store.setThreadPublished(organization, thread.id, true, note());
    clock.pass(1);
    await answer(unanswered);
    return thread;
  }
  async function answer(unanswered = false): Promise<void> {
    const [claim] = await world().claim(1000);
    assert.equal(await world().store.settleReply(claim!, { ...completed, unanswered }), true);
  }

  describe('a rating', () => {
    it('is one per person and reply, can be changed and removed, and is shown to that person only', async () => {
      const { store } = world();
      const [organization, ada, bob] = await createOrganization(2);
      const { id, replyId } = await ask(organization!, ada!);
      const rate = (userId: UserId, rating: typeof up | typeof down | null) =>
        store.rateReply(organization, id, replyId, rating, by(userId));
      const rated = (userId: UserId) => store.listRatings(organization, id, userId);
      assert.equal(await rate(ada!, up), 'done');
      assert.equal(await rate(bob!, down), 'done');
      assert.deepEqual(await rated(ada!), [{ messageId: replyId, ...up }]);
      assert.deepEqual(await rated(bob!), [{ messageId: replyId, ...down }]);
      assert.equal(await rate(ada!, { ...down, comment: null } as never), 'done');
      assert.deepEqual(await rated(ada!), [{ messageId: replyId, value: 'down', comment: null }]);
      assert.equal(await rate(ada!, null), 'done');
      assert.equal(await rate(ada!, null), 'done');
      assert.deepEqual(await rated(ada!), []);
      assert.deepEqual(await rated(bob!), [{ messageId: replyId, ...down }]);
    });

    it('requires a finished reply in a thread that the person may read', async () => {
      const { store } = world();
      const [organization, ada, bob] = await createOrganization(2);
      const thread = await world().thread(organization, ada!);
      const { id, replyId, messageId } = thread;
      const rate = (userId: UserId, message: string = replyId, place = organization) =>
        store.rateReply(place, id, message, up, by(userId));
      assert.equal(await rate(ada!), 'missing');
      await answer();
      assert.equal(await rate(bob!), 'missing');
      assert.equal(await rate(ada!, messageId), 'missing');
      assert.equal(await rate(ada!, strangers.message()), 'missing');
      assert.equal(await rate(ada!, replyId, await world().organization()), 'missing');
      assert.equal(await rate(ada!), 'done');
      await store.setThreadPublished(organization, id, true, note());
      assert.equal(await rate(bob!), 'done');
      await store.setThreadPublished(organization, id, false, note());
      assert.deepEqual(await store.listRatings(organization, id, bob!), []);
      await store.deleteThread(organization, id, noteBy(ada!));
      assert.equal(await rate(ada!), 'missing');
      assert.deepEqual(await store.listRatings(organization, id, ada!), []);
    });

    it('is not stored for a person who has left the organization', async () => {
      const { store } = world();
      const [organization, ada] = await createOrganization(1);
      const people = new Accounting(world());
      const bob = await people.add(organization, 'bob@example.org');
      const { id, replyId } = await ask(organization, ada!);
      await store.setThreadPublished(organization, id, true, note());
      const session = await people.enter(organization, bob);
      assert.equal(await store.rateReply(organization, id, replyId, null, session), 'done');
      await store.removeMember(organization, 'bob@example.org', false, note());
      assert.equal(await store.rateReply(organization, id, replyId, down, session), 'unauthorized');
      assert.deepEqual(await store.listRatings(organization, id, bob), []);
    });

    it('changes nothing that a reader of the thread can see', async () => {
      const { store } = world();
      const [organization, ada] = await createOrganization(1);
      const { id, replyId } = await ask(organization, ada!);
      const before = await store.getThread(organization, id);
      await store.rateReply(organization, id, replyId, down, by(ada!));
      assert.deepEqual(await store.getThread(organization, id), before);
    });
  });

  describe('unanswered replies', () => {
    async function list(organization: OrganizationId, userId: UserId, store: Store = world().store) {
      const rows: UnansweredReply[] = [];
      let before: LogPosition | null = null;
      do {
        const page: Awaited<ReturnType<Store['listUnanswered']>> = await store.listUnanswered(
          organization,
          userId,
          { limit: 2, ...(before && { before }) },
        );
        rows.push(...page.rows);
        before = page.next;
      } while (before !== null);
      return rows;
    }
    const listIds = async (organization: OrganizationId, userId: UserId) =>
      (await list(organization, userId)).map(({ messageId }) => messageId);

    it('are those that found no answer, latest first, with the start of their prompt', async () => {
      const [organization, ada, bob] = await createOrganization(2);
      const threads: NewThread[] = [];
      for (let at = 0; at < 5; at += 1) {
        const prompt = `${at} ${'é'.repeat(600)}`;
        threads.push(await ask(organization, ada!, { unanswered: at !== 2, prompt }));
      }
      const listed = await list(organization, bob!);
      const expected = [4, 3, 1, 0].map((at) => threads[at]!);
      assert.deepEqual(
        listed.map(({ messageId }) => messageId),
        expected.map(({ replyId }) => replyId),
      );
      const { id, replyId, title, accountId, prompt } = threads[4]!;
      assert.deepEqual(listed[0], {
        threadId: id,
        messageId: replyId,
        title,
        accountId,
        askedBy: (await world().store.findMemberById(organization, ada!))!.email,
        unansweredAt: world().clock.ms,
        prompt: prompt.slice(0, 500),
        reply: completed.content,
        complaints: [],
      });
    });

    it('are only shown from threads that the user may read', async () => {
      const { store } = world();
      const [organization, ada, bob] = await createOrganization(2);
      const hidden = await ask(organization, ada!, { unanswered: true, published: false });
      const { id, replyId } = hidden;
      assert.deepEqual(await listIds(organization, bob!), []);
      assert.deepEqual(await listIds(organization, ada!), [replyId]);
      await store.setThreadPublished(organization, id, true, note());
      assert.deepEqual(await listIds(organization, bob!), [replyId]);
      assert.deepEqual(await listIds(await world().organization(), ada!), []);
      await store.deleteThread(organization, id, noteBy(ada!));
      assert.deepEqual(await listIds(organization, ada!), []);
    });

    it('include those that were rated down, with the comments, until the last such rating is removed', async () => {
      const { store, clock } = world();
      const [organization, ada, bob] = await createOrganization(2);
      const { id, replyId } = await ask(organization, ada!);
      const rate = (userId: UserId, rating: typeof up | typeof down | null) =>
        store.rateReply(organization, id, replyId, rating, by(userId));
      await rate(ada!, up);
      assert.deepEqual(await listIds(organization, bob!), []);
      await rate(ada!, down);
      clock.pass(5);
      await rate(bob!, down);
      const [listed, ...others] = await list(organization, ada!);
      assert.equal(others.length, 0);
      assert.deepEqual(
        listed?.complaints.map(({ comment, ratedAt }) => [comment, ratedAt]),
        [
          [down.comment, clock.ms],
          [down.comment, clock.ms - 5],
        ],
      );
      await rate(ada!, null);
      assert.deepEqual(await listIds(organization, ada!), [replyId]);
      await rate(bob!, up);
      assert.deepEqual(await listIds(organization, ada!), []);
    });

    it('do not name people who have left the organization', async () => {
      const { store } = world();
      const [organization, ada, bob, eve] = await createOrganization(3);
      const { id, replyId } = await ask(organization, ada!);
      for (const userId of [bob!, eve!]) await store.rateReply(organization, id, replyId, down, by(userId));
      const findEmail = async (userId: UserId) => (await store.findMemberById(organization, userId))!.email;
      const eves = await findEmail(eve!);
      for (const userId of [ada!, bob!])
        await store.removeMember(organization, await findEmail(userId), false, note());
      const [listed] = await list(organization, eve!);
      assert.equal(listed?.askedBy, null);
      assert.deepEqual(new Set(listed?.complaints.map(({ email }) => email)), new Set([null, eves]));
    });

    it('stay listed if a rating is taken back from a reply that itself found no answer', async () => {
      const { store } = world();
      const [organization, ada] = await createOrganization(1);
      const { id, replyId } = await ask(organization, ada!, { unanswered: true });
      for (const rating of [down, up, null])
        await store.rateReply(organization, id, replyId, rating, by(ada!));
      assert.deepEqual(await listIds(organization, ada!), [replyId]);
    });

    it('are no longer listed once another version replaces them', async () => {
      const { store } = world();
      const [organization, ada] = await createOrganization(1);
      const { id, replyId, messageId } = await ask(organization, ada!, { unanswered: true });
      const add = (reply: ReturnType<typeof newRetry>) => store.addReply(organization, id, reply, by(ada!));
      const again = newRetry();
      assert.equal(granted(await add(again)).outcome, 'added');
      assert.deepEqual(await listIds(organization, ada!), []);
      await answer(true);
      assert.deepEqual(await listIds(organization, ada!), [again.replyId]);
      const followUp = newFollowUp();
      await add(followUp);
      await answer(true);
      assert.deepEqual(await listIds(organization, ada!), [followUp.replyId, again.replyId]);
      const last = followUp.prompt!.messageId;
      assert.notEqual(last, messageId);
      const prompt = { messageId: strangers.message(), content: 'Better', replaces: last };
      assert.equal(granted(await add(newFollowUp({ prompt }))).outcome, 'added');
      assert.deepEqual(await listIds(organization, ada!), [again.replyId]);
      assert.equal(await store.rateReply(organization, id, replyId, down, by(ada!)), 'done');
      assert.deepEqual(await listIds(organization, ada!), [replyId, again.replyId]);
    });

    it('are found past many that the user may not read', async () => {
      const { store, clock } = world();
      const [organization, ada, bob] = await createOrganization(2);
      const { replyId } = await ask(organization, ada!, { unanswered: true });
      clock.pass(1);
      for (let at = 0; at < 501; at += 1) await world().thread(organization, ada!);
      for (const claim of await world().claim(60_000, 1000))
        await store.settleReply(claim, { ...completed, unanswered: true });
      const first = await store.listUnanswered(organization, bob!, { limit: 2 });
      assert.deepEqual(first.rows, []);
      assert.ok(first.next);
      assert.deepEqual(await listIds(organization, bob!), [replyId]);
    });

    it('never miss a rating when several people rate concurrently on two nodes', async () => {
      const nodes = [world().store, await world().node()];
      const [organization, ...people] = await createOrganization(6);
      const { id, replyId } = await ask(organization, people[0]!);
      for (let round = 0; round < 5; round += 1) {
        const kept = people[round]!;
        await Promise.all(
          people.map((person, at) =>
            nodes[at % 2]!.rateReply(organization, id, replyId, person === kept ? down : null, by(person)),
          ),
        );
        assert.deepEqual(await listIds(organization, kept), [replyId], `round ${round}`);
      }
    });
  });
}
