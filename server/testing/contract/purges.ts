import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyRequestId, OrganizationId, UserId } from '../../src/domain/id.ts';
import { deviceCounter, mailCounters } from '../../src/domain/mail.ts';
import { archiveTables } from '../../src/storage/port/archive.ts';
import type { PurgeCounts, PurgeStep } from '../../src/storage/port/store.ts';
import { Accounting, bySession, newInvitation, proof } from './account-fixture.ts';
import {
  by,
  fakeHash,
  newApplication,
  newDocument,
  newFollowUp,
  note,
  noteBy,
  operator,
  putDocument,
  strangers,
  trafficReport,
  type World,
} from './fixture.ts';

const ada = 'ada@example.org';
const createCounters = (email: string) => mailCounters(email, (text) => `hash of ${text}`);

export function describePurges(world: () => World): void {
  describe('a purge', () => {
    it('ends the follow-ups of a thread before it removes the thread', async () => {
      const { store } = world();
      const organization = await world().organization();
      const userId = await world().member(organization);
      const { id } = await world().thread(organization, userId);
      while ((await store.listMessages(organization, id, { skip: 0, limit: 9, bytesMax: 9999 })).length > 0)
        assert.equal((await store.purgeOrganization(organization)).done, false);
      assert.ok(await store.findThread(organization, id));
      const added = await store.addReply(organization, id, newFollowUp(), by(userId));
      assert.deepEqual(added, { outcome: 'missing' });
    });

    /** An organization with rows in every table, whose person belongs to no other organization. */
    async function fill(
      organization: OrganizationId,
      email = ada,
      text = 'A secret prompt',
    ): Promise<UserId> {
      const { store } = world();
      const people = new Accounting(world());
      const userId = await people.add(organization, email);
      const key = {
        id: strangers.key(),
        name: `The laptop of ${email}`,
        userId,
        hint: 'eak_',
        createdBy: userId,
      };
      const hash = `${organization}${email}`.replace(/\W/g, '').padEnd(64, 'a').slice(-64);
      const created = note('key.created', key.id, { detail: { name: key.name, owner: email } });
      assert.equal(await store.createApiKey(organization, { ...key, hash }, created), 'created');
      await store.createApplication(organization, newApplication(), note());
      await people.accept(
        await people.invite(organization, userId, { resets: true, byOperator: true }),
        'a hash',
      );
      await store.createInvitation(organization, newInvitation(userId), note());
      const prompts = { period: 'day', personMax: 9, organizationMax: 9 } as const;
      await store.countPrompt(organization, userId, prompts, operator);
      const counters = createCounters(email);
      for (const counter of [...Object.values(counters), deviceCounter(counters, 'device')])
        await store.countPrompt(organization, counter, { ...prompts, period: 'mail' }, operator);
      await people.bind(email, email);
      const noted = { authority: bySession(userId, await people.signIn(userId), organization) };
      const idempotency = { key: text, bodyHash: 'h', keepMs: 1000 };
      const own = await world().thread(organization, userId, { prompt: text, accountId: 'a', idempotency });
      await store.renameThread(organization, own.id, text, by(userId));
      await store.setThreadPublished(organization, own.id, true, note());
      await store.cancelReplies(organization, own.id, operator);
      await store.rateReply(organization, own.id, own.replyId, { value: 'down', comment: text }, by(userId));
      const gone = await world().thread(organization, userId, { prompt: text });
      await store.deleteThread(organization, gone.id, noteBy(userId));
      const terms = ['secretword'];
      const passages = [{ heading: 'Goods', text, terms }];
      await putDocument(store, organization, newDocument({ name: email, passages }));
      await world().use(organization, 20_000);
      await store.addTraffic([trafficReport({ organizationId: organization, credentialId: key.id })]);
      await store.addRequests([
        {
          organizationId: organization,
          at: 1,
          traceId: email,
          method: 'GET',
          operation: 'getThread',
          status: 200,
          latencyUs: 1,
          credentialId: key.id,
          code: null,
          message: null,
        },
      ]);
      const request = {
        id: 'req_1' as KeyRequestId,
        name: 'My phone',
        keepMs: 1000,
        waitingMax: 1,
      };
      const requested = note('key.requested', request.id, { ...noted, detail: { name: request.name } });
      assert.equal(await store.createKeyRequest(organization, request, requested), 'created');
      const declined = note('key.declined', request.id, { detail: { name: request.name, owner: email } });
      const decision = { state: 'declined', by: userId, keepMs: 1000 } as const;
      assert.equal(await store.decideKeyRequest(organization, request.id, decision, declined), 'decided');
      return userId;
    }

    async function purge(step: () => Promise<PurgeStep>): Promise<PurgeCounts> {
      const removed: Record<string, number> = {};
      for (let steps = 0; steps < 500; steps += 1) {
        const { removed: some, done } = await step();
        for (const [table, rows] of Object.entries(some)) removed[table] = (removed[table] ?? 0) + rows;
        if (done) return removed;
      }
      throw new Error('the purge did not finish in 500 steps');
    }

    /** What a purge of the organization would remove. */
    const left = (organization: OrganizationId) => world().store.countPurge(organization, null);

    it('removes every row of an organization, as counted before, and no other', async () => {
      const { store } = world();
      const [acme, globex] = [await world().organization(), await world().organization()];
      await fill(acme);
      const eve = await fill(globex, 'eve@example.org');
      const before = await left(globex);
      const counted = await left(acme);
      for (const { name: table } of archiveTables)
        assert.equal(
          counted[table]! > 0,
          !['store_clock', 'secret', 'signing_key'].includes(table),
          `what the organization has in ${table}`,
        );
      const removed = await purge(() => store.purgeOrganization(acme));
      assert.equal(await store.finishPurge(5_000), true);
      assert.deepEqual(removed, counted);
      assert.deepEqual(await left(acme), {});
      assert.equal(await store.findOrganization(acme), undefined);
      assert.equal(await store.findUser(ada), undefined);
      assert.deepEqual(await left(globex), before);
      assert.equal((await store.findMember(globex, 'eve@example.org'))?.userId, eve);
      const { passageCount, holders } = await store.findPassages(globex, null, ['secretword'], 10);
      assert.deepEqual([passageCount, holders[0]?.length], [1, 1]);
      // The number of steps varies, because a step of SQLite ends early on a busy machine.
      assert.deepEqual(await purge(() => store.purgeOrganization(acme)), {}, 'again, nothing is left');
    });

    it('ends credentials and memberships before anything else', async () => {
      const { store } = world();
      const organization = await world().organization();
      const hash = fakeHash(7);
      const key = { id: strangers.key(), name: '', userId: null, hash, hint: '', createdBy: null };
      await store.createApiKey(organization, key, note());
      const application = newApplication();
      await store.createApplication(organization, application, note());
      const userId = await world().member(organization, ada);
      const thread = await world().thread(organization, userId);
      assert.ok(await store.findKeyGrant(hash));
      while ((await store.findMember(organization, ada)) !== undefined) {
        assert.equal((await store.purgeOrganization(organization)).done, false);
      }
      assert.equal(await store.findKeyGrant(hash), undefined);
      assert.equal(await store.findApplicationGrant(application.id), undefined);
      assert.ok(await store.getThread(organization, thread.id), 'the rest follows');
      assert.equal((await store.findOrganization(organization))?.apiEnabled, false);
    });

    it('ends running replies and their claims', async () => {
      const { store } = world();
      const organization = await world().organization();
      const userId = await world().member(organization);
      await world().thread(organization, userId);
      const [claim] = await world().claim(60_000);
      await world().thread(organization, userId);
      await purge(() => store.purgeOrganization(organization));
      assert.equal((await store.endedReplies([claim!])).length, 1);
      const progress = { status: 'in_progress', content: 'Late', steps: [] } as const;
      assert.equal(await store.recordReplyProgress(claim!, progress), false);
      assert.deepEqual(await store.organizationsWaiting(undefined, 10), []);
    });

    it('keeps the address and password of a person who belongs to another organization', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const [acme, globex] = [await world().organization(), await world().organization()];
      const userId = await fill(acme);
      assert.equal(await people.add(globex, ada), userId);
      const session = await people.signIn(userId);
      await purge(() => store.purgeOrganization(acme));
      assert.equal(await store.findUser(ada), userId);
      assert.ok(await store.findSession(session, globex));
      assert.equal(await people.bind(ada, ada), userId);
    });

    it('keeps the address of a former member whose threads have stayed in another organization', async () => {
      const { store } = world();
      const [acme, globex] = [await world().organization(), await world().organization()];
      const people = new Accounting(world());
      const userId = await fill(acme);
      await people.add(globex, ada);
      await world().thread(globex, userId);
      await store.removeMember(globex, ada, false, note());
      const session = await people.signIn(userId);
      await purge(() => store.purgeOrganization(acme));
      assert.equal(await store.findUser(ada), userId);
      assert.equal(await store.findSession(session, undefined), undefined);
    });

    it('removes the address of a person of two organizations if the second purge ends within the first', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const [acme, globex] = [await world().organization(), await world().organization()];
      const userId = await people.add(acme, ada);
      await people.add(globex, ada);
      for (const organization of [acme, globex]) await world().thread(organization, userId);
      let removed: Record<string, number | undefined> = {};
      while (removed.thread === undefined) ({ removed } = await store.purgeOrganization(acme));
      await purge(() => store.purgeOrganization(globex));
      await purge(() => store.purgeOrganization(acme));
      assert.equal(await store.findUser(ada), undefined);
    });

    it('removes a person from an organization and leaves the rest of it', async () => {
      const { store } = world();
      const organization = await world().organization();
      const ben = await world().member(organization, 'ben@example.org');
      const bens = await world().thread(organization, ben);
      await store.setThreadPublished(organization, bens.id, true, note());
      await store.cancelReplies(organization, bens.id, operator);
      const userId = await fill(organization);
      const bensMails = { period: 'mail', personMax: 1, organizationMax: 99 } as const;
      const { invitations } = createCounters('ben@example.org');
      assert.equal(await store.countPrompt(organization, invitations, bensMails, operator), 'counted');
      const rating = { value: 'down', comment: 'No.' } as const;
      assert.equal(await store.rateReply(organization, bens.id, bens.replyId, rating, by(userId)), 'done');
      const unanswered = async () => {
        const { rows } = await store.listUnanswered(organization, ben, { limit: 10 });
        return rows.filter(({ messageId }) => messageId === bens.replyId);
      };
      assert.equal((await unanswered()).length, 1);
      const person = { userId, email: ada, mailCounters: createCounters(ada) };
      const own = await world().walk(organization, { userId, ownOnly: true });
      assert.equal(own.length, 1);
      for (const id of own)
        await store.deleteThread(organization, id, note('thread.deleted', id, { authority: by(userId) }));
      const counted = await store.countPurge(organization, person);
      const { thread, message, user, rating: ratings, prompt_use: uses } = counted;
      assert.deepEqual([thread, message, user, ratings, uses], [2, 4, 1, 1, 4]);
      await store.removeMember(organization, ada, false, note('member.removed', userId));
      const { changed, next } = await store.anonymizeAudit(organization, person, null);
      assert.ok(changed > 0 && next === null);
      const removed = await purge(() => store.purgePerson(organization, person));
      const { member: _, invitation: __, audit_event: ___, ...rest } = counted;
      assert.deepEqual(removed, rest, 'everything except the membership, invitations and audit events');
      assert.equal((await store.countPurge(organization, person)).prompt_use, undefined);
      const outcome = await store.countPrompt(organization, invitations, bensMails, operator);
      assert.partialDeepStrictEqual(outcome, { over: 'person' });
      assert.equal(await store.findUser(ada), undefined);
      assert.deepEqual(await unanswered(), [], 'only the purged person had rated the reply down');
      assert.deepEqual(await world().walk(organization, { userId: ben }), [bens.id]);
      assert.deepEqual(
        (await store.listApiKeys(organization)).map((key) => key.userId),
        [null],
      );
      assert.equal((await store.listDocuments(organization)).length, 1);
      const log = JSON.stringify((await store.listAudit(organization, { limit: 100 })).events);
      assert.ok(log.includes('usr_purged') && log.includes('(purged)'));
      for (const trace of [ada, userId, 'laptop', 'phone'])
        assert.ok(!log.includes(trace), `the log still has ${trace}`);
      assert.equal((await store.anonymizeAudit(organization, person, null)).changed, 0);
    });

    it('removes nothing of a person who is a member or has threads', async () => {
      const { store } = world();
      const organization = await world().organization();
      const userId = await world().member(organization, ada);
      const person = { userId, email: ada, mailCounters: createCounters(ada) };
      const { id } = await world().thread(organization, userId);
      const assertActive = async () => {
        const before = await store.countPurge(organization, person);
        const step = await store.purgePerson(organization, person);
        assert.deepEqual(step, { removed: {}, done: false, isActive: true });
        assert.deepEqual(await store.countPurge(organization, person), before);
        assert.equal((await store.beginWalk(organization, { userId }, 1)).size, 1);
      };
      await assertActive();
      await store.removeMember(organization, ada, false, note());
      await assertActive();
      await store.deleteThread(organization, id, noteBy(userId));
      const removed = await purge(() => store.purgePerson(organization, person));
      assert.deepEqual([removed.thread, removed.listing_size, removed.user], [1, 1, 1]);
    });

    it('of a person leaves no account that only their threads had', async () => {
      const { store } = world();
      const organization = await world().organization();
      const [userId, ben] = [await world().member(organization, ada), await world().member(organization)];
      for (const [owner, accountId] of [
        [userId, 'theirs'],
        [userId, 'shared'],
        [ben, 'shared'],
      ] as const) {
        const { id } = await world().thread(organization, owner, { accountId });
        await store.setThreadPublished(organization, id, true, note());
        if (owner === userId) await store.deleteThread(organization, id, noteBy(userId));
      }
      await store.removeMember(organization, ada, false, note());
      const person = { userId, email: ada, mailCounters: createCounters(ada) };
      await purge(() => store.purgePerson(organization, person));
      // For Ben and for all users: one size with the remaining account and one without it.
      assert.equal((await left(organization)).listing_size, 4);
      assert.deepEqual(await store.listAccounts(organization, ben, '', 9), ['shared']);
      assert.equal((await store.beginWalk(organization, { userId: null }, 1)).size, 1);
    });

    it('of a person leaves no count of a prompt that is counted afterwards', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const organization = await world().organization();
      const userId = await people.add(organization, ada);
      const person = { userId, email: ada, mailCounters: createCounters(ada) };
      const prompts = { period: 'day', personMax: 9, organizationMax: 9 } as const;
      const session = await people.enter(organization, userId);
      const count = () => store.countPrompt(organization, userId, prompts, session);
      assert.equal(await count(), 'counted');
      assert.equal((await store.countPurge(organization, person)).prompt_use, 1);
      await store.removeMember(organization, ada, false, note());
      await purge(() => store.purgePerson(organization, person));
      assert.equal(await count(), 'unauthorized');
      assert.equal((await store.countPurge(organization, person)).prompt_use, undefined);
      await purge(() => store.purgeOrganization(organization));
      assert.equal(await count(), 'unauthorized');
    });

    it('removes a person from a long audit log page by page', async () => {
      const { store } = world();
      const organization = await world().organization();
      const userId = await world().member(organization, ada);
      const authority = proof(userId);
      const notes = Array.from({ length: 600 }, () => note('thread.deleted', 'thr_1', { authority }));
      await Promise.all(notes.map((each) => store.writeAudit(organization, each)));
      const person = { userId, email: ada, mailCounters: createCounters(ada) };
      const first = await store.anonymizeAudit(organization, person, null);
      assert.ok(first.next !== null && first.changed >= 498);
      const second = await store.anonymizeAudit(organization, person, first.next);
      assert.equal(second.next, null);
      assert.equal(first.changed + second.changed, 601, 'including the event that added the member');
    });

    it('counts no requests of a purged organization, and loses none of the others', async () => {
      const { store } = world();
      const [acme, globex] = [await world().organization(), await world().organization()];
      await purge(() => store.purgeOrganization(acme));
      await store.addTraffic([acme, globex].map((organizationId) => trafficReport({ organizationId })));
      assert.equal((await store.listUsage(globex, 0, 2, 100)).length, 1);
      assert.equal((await store.listUsage(acme, 0, 2, 100)).length, 0);
    });
  });
}
