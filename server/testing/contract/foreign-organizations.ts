import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Listing } from '../../src/storage/port/store.ts';
import { Accounting } from './account-fixture.ts';
import {
  by,
  fakeHash,
  newApplication,
  newDocument,
  newFollowUp,
  newRetry,
  newThread,
  note,
  noteBy,
  operator,
  putDocument,
  strangers,
  trafficReport,
  type World,
} from './fixture.ts';

export function describeForeignOrganizations(world: () => World): void {
  describe('a foreign organization', () => {
    it('cannot read or change anything by any method, even with valid ids', async () => {
      const { store } = world();
      const home = await world().organization({ name: 'Home' });
      const foreign = await world().organization({ name: 'Foreign' });
      const people = new Accounting(world());
      const userId = await people.add(home, 'ada@example.org');
      const thread = await world().thread(home, userId, { accountId: 'a' });
      await store.setThreadPublished(home, thread.id, true, note());
      const key = { id: strangers.key(), name: '', userId, hash: fakeHash(1), hint: '', createdBy: null };
      await store.createApiKey(home, key, note());
      const application = newApplication();
      await store.createApplication(home, application, note());
      const [claim] = await world().claim(1000);
      assert.ok(claim);
      const document = newDocument({ accountId: 'a' });
      await putDocument(store, home, document);
      await putDocument(store, foreign, newDocument({ name: 'other.md' }));
      const { holders } = await store.findPassages(home, 'a', ['day'], 10);
      assert.equal(holders[0]?.length, 1);
      const use = trafficReport({ organizationId: home, credentialId: key.id });
      await store.addTraffic([use]);
      const [gone, idle] = [await world().thread(home, userId), await world().thread(home, userId)];
      await store.deleteThread(home, gone.id, noteBy(userId));
      await store.cancelReplies(home, idle.id, operator);
      const session = await people.enter(home, userId);
      const before = await snapshot();

      assert.equal(await store.getThread(foreign, thread.id), undefined);
      assert.equal(await store.findThread(foreign, thread.id), undefined);
      assert.equal(await store.getThreadHead(foreign, thread.id), undefined);
      const all = { skip: 0, limit: 10, bytesMax: 1000 };
      assert.deepEqual(await store.listMessages(foreign, thread.id, all), []);
      assert.equal(await store.threadVersion(foreign, thread.id, { userId }), undefined);
      assert.equal(await store.findRunningReply(foreign, thread.id, { userId }), undefined);
      for (const authority of [session, { kind: 'key', userId, keyHash: key.hash } as const]) {
        assert.equal(await store.renameThread(foreign, thread.id, 'x', authority), 'unauthorized');
        assert.equal(await store.createThread(foreign, newThread(userId), authority), 'unauthorized');
      }
      assert.deepEqual(await store.renameThread(foreign, thread.id, 'x', by(userId)), { outcome: 'missing' });
      assert.deepEqual(await store.deleteThread(foreign, thread.id, noteBy(userId)), {
        outcome: 'missing',
      });
      assert.equal(await store.setThreadPublished(foreign, thread.id, false, note()), 'missing');
      const rating = { value: 'down', comment: null } as const;
      assert.equal(await store.rateReply(foreign, idle.id, idle.replyId, rating, by(userId)), 'missing');
      assert.equal(await store.rateReply(home, idle.id, idle.replyId, rating, by(userId)), 'done');
      assert.deepEqual(await store.listRatings(foreign, idle.id, userId), []);
      const unanswered = await store.listUnanswered(foreign, userId, { limit: 5 });
      assert.deepEqual(unanswered, { rows: [], next: null });
      assert.equal(await store.restoreThread(foreign, gone.id, 1000, noteBy(userId)), 'missing');
      for (const reply of [newFollowUp(), newRetry()]) {
        const added = await store.addReply(foreign, idle.id, reply, by(userId));
        assert.deepEqual(added, { outcome: 'missing' });
      }
      assert.deepEqual(await store.listAccounts(foreign, userId, '', 10), []);
      assert.deepEqual(await store.searchThreads(foreign, { userId, terms: [] }, 10), []);
      assert.deepEqual(await store.summarizeThreads(foreign, [thread.id]), []);
      assert.equal(await store.revokeApiKey(foreign, key.id, note()), 'missing');
      assert.equal(await store.createApiKey(foreign, { ...key, hash: fakeHash(2) }, note()), 'not-a-member');
      assert.equal(await store.findMember(foreign, 'ada@example.org'), undefined);
      assert.equal(await store.findMemberById(foreign, userId), undefined);
      assert.deepEqual(await store.removeMember(foreign, 'ada@example.org', false, note()), {
        outcome: 'missing',
      });
      assert.deepEqual(await store.listMembers(foreign), []);
      assert.equal(await store.countMembers(foreign), 0);
      assert.deepEqual(await store.listApiKeys(foreign), []);
      assert.equal(await store.findApiKey(foreign, key.id), undefined);
      assert.deepEqual(await store.listApplications(foreign), []);
      assert.equal(await store.findDocument(foreign, document.id), undefined);
      assert.deepEqual(await store.listPassages(foreign, document.id, { limit: 10 }), []);
      const added = (await store.findDocument(home, document.id))!;
      await store.setDocumentQuestions(home, added, ['Whose?']);
      await store.setDocumentQuestions(foreign, added, ['Ours?']);
      assert.deepEqual(await store.listDocumentQuestions(foreign, 'a', 10), []);
      assert.deepEqual(await store.listDocumentQuestions(home, 'a', 10), [['Whose?']]);
      assert.equal(await store.rotateApplication(foreign, application.id, fakeHash(2), note()), 'missing');
      assert.equal(await store.deleteApplication(foreign, application.id, note()), 'missing');
      assert.deepEqual(await store.listApplications(foreign), []);
      const seen = (await store.listAudit(foreign, { limit: 100 })).events;
      assert.deepEqual(
        seen.map(({ action }) => action),
        ['organization.created', 'document.added'].toReversed(),
      );
      assert.deepEqual(await store.listUsage(foreign, 0, 1, 100), []);
      await store.addTraffic([{ ...use, organizationId: foreign, lastAt: 2 }]);
      await store.writeAudit(foreign, note());
      for (const listing of [
        { userId },
        { userId: null },
        { userId, accountId: 'a' },
        { userId: null, accountId: 'a' },
        { userId, ownOnly: true },
        { userId, ownOnly: true, accountId: 'a' },
      ] satisfies Listing[]) {
        const page = await store.beginWalk(foreign, listing, 10);
        assert.deepEqual([page.rows, page.more, page.size], [[], false, 0]);
        const after = { activityAt: Number.MAX_SAFE_INTEGER, id: thread.id };
        // Uses the start from the home organization, because an empty listing has none.
        const { start } = await store.beginWalk(home, { userId }, 1);
        const next = await store.continueWalk(foreign, listing, 10, { start, after });
        assert.deepEqual(next, { rows: [], more: false });
      }
      const stolen = { ...claim, organizationId: foreign };
      const result = { status: 'completed', content: 'x', steps: [], sources: null, model: 'm' } as const;
      assert.equal(await store.settleReply(stolen, result), false);
      const progress = { status: 'in_progress', content: 'x', steps: [] } as const;
      assert.equal(await store.recordReplyProgress(stolen, progress), false);
      assert.equal(await store.releaseReply(stolen, { delayMs: 0, failure: '' }), false);
      assert.deepEqual(await store.renewReplies([stolen], 1000), [stolen]);
      assert.deepEqual(await store.endedReplies([stolen]), [stolen]);
      assert.deepEqual(await store.cancelReplies(foreign, thread.id, operator), []);
      await store.releaseReply(stolen);
      assert.deepEqual(await store.claimReplies([{ organizationId: foreign, limit: 10 }], 1000), []);
      assert.deepEqual(await store.organizationsWaiting(undefined, 10), []);
      assert.equal(await store.removeDocument(foreign, document.id, note()), 'missing');
      assert.deepEqual(await store.readPassages(foreign, 'a', holders[0] ?? []), []);
      const found = await store.findPassages(foreign, 'a', ['day'], 10);
      assert.equal(found.passageCount, 1);
      assert.ok(!found.holders[0]?.includes(holders[0]![0]!));
      assert.ok(!(await store.listDocuments(foreign)).some(({ id }) => id === document.id));
      await store.updateOrganization(foreign, { apiEnabled: false, dailyQuota: 0 }, note());

      assert.deepEqual(await snapshot(), before);

      async function snapshot() {
        return {
          organization: await store.findOrganization(home),
          threads: await Promise.all([thread, gone, idle].map(({ id }) => store.getThread(home, id))),
          members: await store.listMembers(home),
          keys: await store.listApiKeys(home),
          grant: await store.findKeyGrant(fakeHash(1)),
          applications: await store.listApplications(home),
          applicationGrant: await store.findApplicationGrant(application.id),
          documents: await store.listDocuments(home),
          passages: await store.readPassages(home, 'a', holders[0] ?? []),
          audit: (await store.listAudit(home, { limit: 100 })).events,
          usage: await store.listUsage(home, 0, 1, 100),
        };
      }
    });

    it('has no thread of another organization that its members could change', async () => {
      const { store } = world();
      const [home, foreign] = [await world().organization(), await world().organization()];
      const userId = await world().member(home, 'ada@example.org');
      await world().member(foreign, 'ada@example.org');
      const { id } = await world().thread(home, userId);
      const missing = { outcome: 'missing' };
      assert.deepEqual(await store.renameThread(foreign, id, 'x', by(userId)), missing);
      assert.deepEqual(await store.deleteThread(foreign, id, noteBy(userId)), missing);
      assert.deepEqual(await store.cancelReplies(foreign, id, by(userId)), []);
    });

    it('keeps its own thread under an id that another organization also uses', async () => {
      const { store } = world();
      const [home, foreign] = [await world().organization(), await world().organization()];
      const userId = await world().member(home, 'ada@example.org');
      await world().member(foreign, 'ada@example.org');
      const made = newThread(userId, { title: 'Home' });
      await store.createThread(home, made, by(made.userId));
      await store.createThread(foreign, { ...made, title: 'Foreign' }, by(userId));
      await store.deleteThread(foreign, made.id, noteBy(userId));
      const kept = await store.getThread(home, made.id);
      assert.equal(kept?.thread.title, 'Home');
      assert.equal(kept?.thread.deletedAt, null);
      assert.equal(kept?.messages.length, 2);
    });
  });
}
