import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { PersonAuthority } from '../../src/domain/authority.ts';
import type { OrganizationId, ThreadId, UserId } from '../../src/domain/id.ts';
import type { ClaimedReply, ListedThread, Listing, ReplyName, Store } from '../../src/storage/port/store.ts';
import { openPostgresStore } from '../../src/storage/postgres/open.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open.ts';
import { by, fakeHash, newFollowUp, newRetry, newThread, note, TestClock } from '../contract/fixture.ts';
import { openTestDatabase, poolSettings } from '../contract/postgres-database.ts';
import { openMemoryStore, openTransactions, Tables } from './memory-store/open.ts';
import { Random } from './random.ts';

/** One store, with the values that differ between stores: claim tokens and the starts of walks. */
interface Side {
  readonly store: Store;
  readonly claims: ClaimedReply[];
  walk: { listing: Listing; start: string; after: ListedThread['position'] } | undefined;
}

/** One call, the same for every store. Its result must not depend on the store. */
type Call = (side: Side) => Promise<unknown>;

const organizations = ['org_a', 'org_b'] as OrganizationId[];
const users = ['usr_a', 'usr_b'] as UserId[];
const day = 20_000;

/** The calls that every history starts with. */
function founding(): Call[] {
  return organizations.flatMap((id, place) => {
    const userId = users[place]!;
    const key = {
      id: `key_${place}` as never,
      hash: fakeHash(place),
      hint: '',
      name: '',
      userId,
      createdBy: null,
    };
    return [
      ({ store }) => store.createOrganization({ id, name: id, apiEnabled: true, dailyQuota: 40 }, note()),
      ({ store }) =>
        store.addMember(
          id,
          { candidateUserId: userId, email: `${place}@x`, role: 'member', service: true, membersMax: 10_000 },
          note(),
        ),
      ({ store }) => store.createApiKey(id, key, note()),
    ] satisfies Call[];
  });
}

/** A random call with fixed arguments: ids are created once for all stores. */
function nextCall(random: Random, threads: [OrganizationId, ThreadId][]): Call {
  const place = random.integer(2);
  const [organization, userId, keyHash] = [organizations[place]!, users[place]!, fakeHash(place)];
  const [home, threadId] =
    threads.length === 0 ? [organization, 'thr_none' as ThreadId] : random.pick(threads);
  const authority: PersonAuthority = random.chance(0.5) ? { kind: 'key', userId, keyHash } : by(userId);
  const listing: Listing = random.chance(0.5) ? { userId } : { userId: null };
  const limit = random.integer(4, 1);
  const noted = note(undefined, undefined, { authority });
  const claimAt = random.fraction();
  const queue = random.pick(['usual', 'suspects'] as const);
  const pickClaim = ({ claims }: Side) => claims[Math.floor(claimAt * claims.length)];
  const withClaim =
    (use: (store: Store, claim: ClaimedReply) => Promise<unknown>): Call =>
    async (side) => {
      const claim = pickClaim(side);
      return claim && use(side.store, claim);
    };
  const created = newThread(userId);
  const followUp = newFollowUp();
  const retry = newRetry();
  const steps = [{ description: 'A step', at: 1 }];
  const result = { content: 'An answer.', steps, sources: null, model: 'm' };
  return random.pick<Call>([
    ({ store }) => {
      if (!threads.some(([, id]) => id === created.id)) threads.push([organization, created.id]);
      return store.createThread(organization, created, authority);
    },
    ({ store }) => store.renameThread(home, threadId, `Title ${claimAt}`, authority),
    ({ store }) => store.deleteThread(home, threadId, noted),
    ({ store }) => store.restoreThread(home, threadId, 1000, noted),
    ({ store }) => store.setThreadPublished(organization, threadId, claimAt < 0.7, noted),
    ({ store }) => store.addReply(home, threadId, followUp, authority),
    ({ store }) => store.addReply(home, threadId, retry, authority),
    ({ store }) => store.cancelReplies(home, threadId, authority),
    ({ store }) => store.getThread(organization, threadId, { userId }),
    ({ store }) => store.findRunningReply(home, threadId, { userId }),
    ({ store }) => store.listMessages(home, threadId, { skip: 0, limit: 9, bytesMax: 9999 }),
    ({ store }) => store.admitKey(keyHash, day),
    ({ store }) => store.replyBacklog(),
    ({ store }) => store.organizationsWaiting(claimAt < 0.5 ? organization : undefined, 5, queue),
    async (side) => {
      const claimed = await side.store.claimReplies([{ organizationId: organization, limit }], 300, queue);
      side.claims.push(...claimed);
      return claimed;
    },
    withClaim((store, claim) => store.renewReplies([claim], 300)),
    withClaim((store, claim) =>
      store.recordReplyProgress(claim, { status: 'in_progress', content: 'An', steps }),
    ),
    withClaim((store, claim) => store.settleReply(claim, { status: 'completed', ...result })),
    withClaim((store, claim) => store.releaseReply(claim, { delayMs: 50, failure: '503' })),
    withClaim((store, claim) => store.releaseReply(claim)),
    withClaim((store, claim) => store.releaseReply(claim, 'crash')),
    async ({ store }) => {
      const { failed, crashed } = await store.sweepReplies({ leases: true });
      const inOrder = (replies: readonly ReplyName[]) => replies.map(({ messageId }) => messageId).sort();
      return [inOrder(failed), inOrder(crashed)];
    },
    async (side) => {
      const { rows, more, start, size } = await side.store.beginWalk(organization, listing, limit);
      const position = rows.at(-1)?.position;
      side.walk = position && { listing, start, after: position };
      return { rows, more, size };
    },
    async (side) => side.walk && side.store.continueWalk(organization, side.walk.listing, limit, side.walk),
  ]);
}

/** Without tokens and versions, which only have to be unique. */
function comparable(answer: unknown): unknown {
  const without = (name: string, value: unknown) =>
    name === 'token' || name === 'version' ? undefined : value;
  return JSON.parse(JSON.stringify(answer ?? null, without));
}

describe('The memory store, SQLite and PostgreSQL', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'skein-differential-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const seed of [1, 2, 3]) {
    it(`return the same results for the random history ${seed}`, async () => {
      const clock = new TestClock();
      const database = await openTestDatabase();
      const stores = [
        openMemoryStore(openTransactions(new Tables(clock)), clock, {
          call: async (_method, _args, run) => run(),
          sendNotice: async () => {},
          onNotice() {},
        }) as Store,
        openSqliteStore(join(folder, `${seed}.db`), clock),
        await openPostgresStore(database.url, poolSettings, clock),
      ];
      const sides = stores.map((store): Side => ({ store, claims: [], walk: undefined }));
      const random = new Random(seed);
      const threads: [OrganizationId, ThreadId][] = [];
      try {
        const calls = founding();
        for (let number = 0; number < 250; number += 1) {
          clock.pass(random.integer(60, 2));
          const call = calls.shift() ?? nextCall(random, threads);
          const answers: unknown[] = [];
          for (const side of sides) answers.push(comparable(await call(side)));
          for (const answer of answers) {
            assert.deepEqual(answer, answers[0], `call ${number}: ${call}`);
          }
        }
      } finally {
        for (const store of stores) await store.close();
        await database.close();
      }
    });
  }
});
