import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { until } from '../../../../runtime/testing/until.ts';
import {
  by,
  granted,
  newFollowUp,
  newRetry,
  note,
  noteBy,
  operator,
} from '../../../testing/contract/fixture.ts';
import { openTestDatabase, poolSettings } from '../../../testing/contract/postgres-database.ts';
import type { MessageId, OrganizationId, ThreadId, UserId } from '../../domain/id.ts';
import type { RetentionKind } from '../../domain/retention.ts';
import { ObjectCache } from '../cache/object-cache.ts';
import type { Store } from '../port/store.ts';
import { retentionRules } from '../sql/retention.ts';
import { Statement } from '../sql/sql.ts';
import { Database } from './database.ts';
import { openPostgresStore } from './open.ts';
import { Servers } from './servers.ts';
import { StoreTime } from './store-time.ts';
import { postgresWalks } from './walks.ts';

const threads = 40_000;
/** Of all organizations: each has 100 of them. */
const threadsOfRange = 1000;
/** One reply in four is running: more than any statement may read. */
const seed = [
  `INSERT INTO organization (id, name, api_enabled, daily_quota, created_at, latest_at, thread_sequence)
   SELECT 'org_' || i, 'o', true, 1000000, 1, 1, ${threads} FROM generate_series(0, 9) AS i`,
  `INSERT INTO "user" SELECT 'usr_' || i, 'e' || i FROM generate_series(0, 9) AS i`,
  `INSERT INTO member (organization_id, user_id, role, service, joined_at)
   SELECT organization.id, "user".id, 'member', false, 1 FROM organization, "user"`,
  `INSERT INTO thread (organization_id, id, sequence, user_id, title, account_id, created_at, activity_at, published)
   SELECT 'org_' || i % 10, 'thr_' || lpad(i::text, 8, '0'), i, 'usr_' || i / 10 % 10, 't', 'a' || i % 3, i, i, i % 2 = 0
   FROM generate_series(1, ${threads}) AS i`,
  `INSERT INTO message (organization_id, thread_id, id, role, content, created_at)
   SELECT organization_id, id, 'msg_0' || id, 'user', 'x', 1 FROM thread`,
  `INSERT INTO message (organization_id, thread_id, id, role, content, created_at, status, steps, available_at,
     claim_token, attempts, deadline_at, trace_id, completed_at, held)
   SELECT organization_id, id, 'msg_1' || id, 'assistant', 'x', 1,
     CASE WHEN sequence / 10 % 4 = 0 THEN 'in_progress' ELSE 'completed' END, '[]', sequence, 0, 0, 9e15, 't',
     CASE WHEN sequence / 10 % 4 = 0 THEN NULL ELSE 5 END, false FROM thread`,
  `INSERT INTO audit_event (organization_id, at, id, actor_kind, actor_user_id, action, subject, detail, trace_id)
   SELECT 'org_' || i % 10, i / 100, 'evt_' || i, 'user', 'usr_' || i % 10, 'thread.deleted', 's', '{}', 't' || i % 7000
   FROM generate_series(1, 40000) AS i`,
  `INSERT INTO usage_day SELECT 'org_' || i % 10, i / 50, 'key_' || i / 10 % 5, 'getThread', 'OK', 1
   FROM generate_series(1, 40000) AS i`,
  `INSERT INTO idempotency_key SELECT 'org_' || i % 10, 'usr_1', 'k' || i, 'h', 't' || i, 'm', 'r', i, i
   FROM generate_series(1, 40000) AS i`,
  `INSERT INTO thread_move SELECT 'org_' || i % 10, i, 't' || i, 1e9, i FROM generate_series(1, 40000) AS i`,
  `INSERT INTO session SELECT lpad(i::text, 64, '0'), 'usr_1', i, i, i FROM generate_series(1, 40000) AS i`,
  'INSERT INTO quota_use SELECT DISTINCT organization_id, day, 1 FROM usage_day',
  // A tenth of the threads are deleted.
  'UPDATE thread SET deleted_at = sequence WHERE sequence / 10 % 10 = 7',
  'ANALYZE',
  // Never analyzed, as after a restore. The threads of org_5 are not published; their terms are stored apart.
  'ALTER TABLE thread_search SET (autovacuum_enabled = false)',
  'ALTER TABLE search_range SET (autovacuum_enabled = false)',
  `INSERT INTO search_range SELECT 'org_' || i % 10, i / 10 * ${threadsOfRange}, i / 10
   FROM generate_series(0, ${(10 * threads) / threadsOfRange}) AS i`,
  `INSERT INTO thread_search (organization_id, thread_id, activity_at, version, state, line, terms)
   SELECT organization_id, id, activity_at, 1, 'idle', '', array_to_tsvector((
     SELECT array_agg(activity_at / ${threadsOfRange} || '·' || left(encode(sha256(scope::bytea), 'hex'), 10) || '·' || term)
     FROM (SELECT 'frequent' AS term UNION ALL
       SELECT 'older' WHERE activity_at < ${threads / 2} UNION ALL
       SELECT 'word' || i FROM generate_series(1, 100) AS i WHERE organization_id = 'org_5') AS terms))
   FROM thread, LATERAL (SELECT CASE WHEN published THEN organization_id ELSE organization_id || ' ' || user_id END) AS of (scope)`,
  'ALTER TABLE document SET (autovacuum_enabled = false)',
  'ALTER TABLE passage SET (autovacuum_enabled = false)',
  `INSERT INTO document (organization_id, id, account_key, name, title, passages, added_at)
   SELECT 'org_' || i % 10, 'doc_' || i, '', 'n' || i, 't', 5, 1 FROM generate_series(1, 20000) AS i`,
  `INSERT INTO passage (organization_id, document_id, heading, text, terms)
   SELECT organization_id, id, 'h', repeat('x', 500), '' FROM document, generate_series(1, 5)`,
  'SELECT pg_stat_reset()',
];

describe('The statements of the PostgreSQL store', () => {
  let database: Awaited<ReturnType<typeof openTestDatabase>>;
  let client: pg.Client;
  before(async () => {
    database = await openTestDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await (await openPostgresStore(database.url, poolSettings)).close();
    for (const statement of seed) await client.query(statement);
  });
  after(async () => {
    await client.end();
    await database.close();
  });

  /** The counts of a connection are complete once its process has ended. */
  async function untilAlone(): Promise<void> {
    const others = `SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`;
    await until(async () => (await client.query(others)).rows[0].count === 0);
  }

  /** The rows read by table scans, and the searches and entries of indexes, that `work` took. */
  async function rowsReadBy(
    work: (store: Store) => Promise<unknown>,
  ): Promise<{ scanned: number; searches: number; entries: number }> {
    await untilAlone();
    await client.query('SELECT pg_stat_reset()');
    const store = await openPostgresStore(database.url, poolSettings);
    await work(store);
    await store.close();
    await untilAlone();
    const counted = `relname IN ('thread', 'message', 'audit_event', 'usage_day', 'quota_use', 'idempotency_key', 'session',
      'thread_move', 'thread_search')`;
    const { rows } = await client.query(`SELECT
      (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE ${counted})::int AS scanned,
      (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE ${counted})::int AS entries,
      (SELECT sum(idx_scan) FROM pg_stat_user_indexes WHERE ${counted})::int AS searches`);
    return rows[0];
  }

  const organization = 'org_4' as OrganizationId;
  const user = 'usr_3' as UserId;
  const frequent = { userId: user, terms: ['frequent'] };
  const after5000 = { activityAt: 20_000, id: 'thr_00020034' as ThreadId };
  /** `thread` has ended, and the reply of `running` has not. */
  const workOn = (
    thread: ThreadId,
    running: ThreadId,
  ): Record<string, (store: Store) => Promise<unknown>> => ({
    'gets a thread': (store) => store.getThread(organization, thread),
    'gets a thread for a reader': async (store) =>
      assert.ok(await store.getThread(organization, thread, { userId: user })),
    'gets the head of a thread': async (store) => assert.ok(await store.getThreadHead(organization, thread)),
    'reads a part of a thread': async (store) => {
      const part = { skip: 0, limit: 10, bytesMax: 1000 };
      assert.equal((await store.listMessages(organization, thread, part)).length, 2);
    },
    'reads the version of a thread': async (store) =>
      assert.ok(await store.threadVersion(organization, thread, { userId: user })),
    // All sessions of the seed have ended, but their rows are found by their tokens.
    'finds a session': (store) => store.findSession('20000'.padStart(64, '0'), organization),
    'finds the running reply of a thread': async (store) =>
      assert.ok(await store.findRunningReply(organization, running, { userId: null })),
    'starts a walk over own and published threads': (store) =>
      store.beginWalk(organization, { userId: user }, 25),
    'starts a walk over an account': (store) =>
      store.beginWalk(organization, { userId: user, accountId: 'a1' }, 25),
    'starts a walk over published threads': (store) => store.beginWalk(organization, { userId: null }, 25),
    'starts a walk over the threads of a user': (store) =>
      store.beginWalk(organization, { userId: user, ownOnly: true }, 25),
    'starts a walk over the threads of a user in an account': (store) =>
      store.beginWalk(organization, { userId: user, ownOnly: true, accountId: 'a1' }, 25),
    'continues a walk over the threads of a user': (store) =>
      store.continueWalk(organization, { userId: user, ownOnly: true }, 25, {
        start: `${threads}.0.${Date.now()}`,
        after: after5000,
      }),
    'continues a walk from its middle': (store) =>
      store.continueWalk(organization, { userId: user }, 25, {
        start: `${threads}.0.${Date.now()}`,
        after: after5000,
      }),
    'searches for a frequent word': async (store) =>
      assert.equal((await store.searchThreads(organization, frequent, 26)).length, 26),
    'continues a search for a frequent word': async (store) => {
      const found = await store.searchThreads(organization, frequent, 26, `20034 ${after5000.id}`);
      assert.equal(found[0]?.thread.id, 'thr_00020024');
      assert.equal(found.length, 26);
    },
    'searches for a frequent word that only older threads have': async (store) => {
      const older = { userId: user, terms: ['older'] };
      const found = await store.searchThreads(organization, older, 26);
      assert.equal(found[0]?.thread.id, 'thr_00019994');
      assert.equal(found.length, 26);
    },
    'rates a reply': async (store) => {
      const { id } = (await store.getThreadHead(organization, thread))!.latest;
      const rating = { value: 'down', comment: 'Wrong.' } as const;
      assert.equal(await store.rateReply(organization, thread, id, rating, by(user)), 'done');
      assert.equal((await store.listRatings(organization, thread, user)).length, 1);
    },
    'lists unanswered replies': async (store) =>
      assert.equal((await store.listUnanswered(organization, user, { limit: 5 })).rows.length, 1),
    'edits a prompt': async (store) => {
      const replaces = (await store.getThread(organization, thread))!.messages[0]!.id;
      const prompt = { messageId: 'msg_edited' as MessageId, content: 'Edited', replaces };
      const reply = newFollowUp({ prompt });
      const added = granted(await store.addReply(organization, thread, reply, by(user)));
      assert.equal(added.outcome, 'added');
      assert.equal((await store.cancelReplies(organization, thread, operator)).length, 1);
    },
    'adds a follow-up': async (store) => {
      const added = granted(await store.addReply(organization, thread, newFollowUp(), by(user)));
      assert.equal(added.outcome, 'added');
    },
    'retries a cancelled reply': async (store) => {
      assert.equal((await store.cancelReplies(organization, thread, operator)).length, 1);
      assert.equal(
        granted(await store.addReply(organization, thread, newRetry(), by(user))).outcome,
        'added',
      );
    },
    'renames a thread': (store) => store.renameThread(organization, thread, 'Renamed', by(user)),
    'publishes a thread': (store) => store.setThreadPublished(organization, thread, true, note()),
    'finds organizations with waiting replies': (store) => store.organizationsWaiting(undefined, 100),
    'finds organizations with suspects': (store) => store.organizationsWaiting(undefined, 100, 'suspects'),
    'claims suspects': (store) =>
      store.claimReplies([{ organizationId: organization, limit: 3 }], 600_000, 'suspects'),
    'claims replies': (store) => store.claimReplies([{ organizationId: organization, limit: 3 }], 600_000),
    'sweeps replies': (store) => store.sweepReplies({ leases: true }),
    'fails an overdue reply': async (store) => {
      await client.query(
        `UPDATE message SET deadline_at = 1 WHERE organization_id = $1 AND thread_id = $2 AND role = 'assistant'`,
        [organization, running],
      );
      assert.equal((await store.sweepReplies({ leases: true })).failed.length, 1);
    },
    'finds the replies that have ended': (store) =>
      store.endedReplies([
        { organizationId: organization, threadId: thread, messageId: 'msg_1x' as MessageId },
      ]),
    'reads the start of the audit log': (store) => store.listAudit(organization, { limit: 50 }),
    'continues the audit log from its middle': (store) =>
      store.listAudit(organization, { before: { at: 200, id: 'evt_20004' }, limit: 50 }),
    'searches the audit log': (store) => store.listAudit(organization, { traceId: 't4', limit: 50 }),
    'lists thirty days of usage': (store) => store.listUsage(organization, 400, 429, 5001),
    'deletes a thread': (store) => store.deleteThread(organization, thread, noteBy(user)),
    'restores a thread': async (store) =>
      assert.equal(await store.restoreThread(organization, thread, 600_000, noteBy(user)), 'restored'),
  });

  /** The searches in the indexes of messages that `work` took. */
  async function searchesOfMessages(work: (store: Store) => Promise<unknown>): Promise<number> {
    await rowsReadBy(work);
    const counted = `SELECT sum(idx_scan)::int AS searches FROM pg_stat_user_indexes WHERE relname = 'message'`;
    return (await client.query(counted)).rows[0].searches;
  }

  it('reads no message of a thread that has not changed', async () => {
    const get = (store: Store) => store.getThread(organization, after5000.id, { userId: user });
    const once = await searchesOfMessages(get);
    const twice = await searchesOfMessages(async (store) => assert.equal(await get(store), await get(store)));
    assert.ok(once > 0);
    assert.equal(twice, once);
  });

  it('reads no message of a thread that the reader may not read', async () => {
    // Thread 5 of the seed is the first one that is not published.
    const [home, hidden] = ['org_5' as OrganizationId, 'thr_00000005' as ThreadId];
    for (const userId of [user, null]) {
      const searches = await searchesOfMessages(async (store) =>
        assert.equal(await store.getThread(home, hidden, { userId }), undefined),
      );
      assert.equal(searches, 0);
    }
    const searches = await searchesOfMessages(async (store) =>
      assert.ok(await store.getThread(home, hidden, { userId: 'usr_0' as UserId })),
    );
    assert.ok(searches > 0);
  });

  it('reads as many rows for a thread that is hidden from the reader as for one that does not exist', async () => {
    const other = 'org_1' as OrganizationId;
    const reads: Record<string, (store: Store, id: ThreadId) => Promise<unknown>> = {
      getThread: (store, id) => store.getThread(other, id, { userId: user }),
      threadVersion: (store, id) => store.threadVersion(other, id, { userId: user }),
      findRunningReply: (store, id) => store.findRunningReply(other, id, { userId: user }),
    };
    const [hidden, missing] = ['thr_00020001', 'thr_00020002'] as [ThreadId, ThreadId];
    // Not by the client: the server may add what it has read to the counts after they were reset.
    const reader = new pg.Client({ connectionString: database.url });
    await reader.connect();
    const { rows } = await reader.query(
      'SELECT id FROM thread WHERE organization_id = $1 AND id = ANY($2) AND NOT published AND user_id <> $3',
      [other, [hidden, missing], user],
    );
    await reader.end();
    assert.deepEqual(rows, [{ id: hidden }]);
    for (const [name, read] of Object.entries(reads)) {
      const countRows = (id: ThreadId) =>
        rowsReadBy(async (store) => assert.equal(await read(store, id), undefined));
      const ofHidden = await countRows(hidden);
      assert.ok(ofHidden.entries > 0, name);
      assert.deepEqual(await countRows(missing), ofHidden, name);
    }
  });

  it('searches without reading the terms of a thread', async () => {
    const termsRead = async (userId: UserId, found: number) => {
      await rowsReadBy(async (store) => {
        const threads = await store.searchThreads('org_5' as OrganizationId, { ...frequent, userId }, 5);
        assert.equal(threads.length, found);
      });
      const counted = `SELECT idx_scan::int AS searches FROM pg_stat_all_tables
        WHERE relid = (SELECT reltoastrelid FROM pg_class WHERE relname = 'thread_search')`;
      return (await client.query(counted)).rows[0].searches;
    };
    assert.equal(await termsRead('usr_none' as UserId, 0), 0);
    assert.equal(await termsRead(user, 5), 0, 'the index is enough');
  });

  it('reads no other passages than those that are asked for', async () => {
    let numbers: number[] = [];
    // Not by the client: the server may add what it has read to the counts after they were reset.
    await rowsReadBy(async (store) => {
      const passages = await store.listPassages(organization, 'doc_4', { limit: 3 });
      numbers = passages.map(({ number }) => number);
    });
    await rowsReadBy(async (store) =>
      assert.equal((await store.readPassages(organization, null, numbers)).length, 3),
    );
    const { rows } = await client.query(`SELECT
      (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE relname = 'passage')::int AS scanned,
      (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'passage')::int AS entries`);
    assert.deepEqual(rows, [{ scanned: 0, entries: 3 }]);
  });

  // PostgreSQL plans the first executions of a statement for their values, and may then keep a plan for all values.
  const modes = {
    force_custom_plan: workOn('thr_00020034' as ThreadId, 'thr_00000404' as ThreadId),
    force_generic_plan: workOn('thr_00020134' as ThreadId, 'thr_00000804' as ThreadId),
  };
  for (const [mode, work] of Object.entries(modes)) {
    describe(`with ${mode}`, () => {
      before(() => client.query(`ALTER DATABASE ${client.database} SET plan_cache_mode = ${mode}`));
      after(() => client.query(`ALTER DATABASE ${client.database} RESET plan_cache_mode`));

      for (const [name, run] of Object.entries(work)) {
        it(`${name} without reading more than a page of rows, however many there are`, async () => {
          const { scanned, searches, entries } = await rowsReadBy(run);
          assert.equal(scanned, 0, `${scanned} rows read by table scans`);
          assert.ok(searches > 0, 'the index searches were counted');
          assert.ok(entries < 300, `${entries} index entries read`);
        });
      }
    });
  }

  it('plans listings once, whatever their limits', async () => {
    const time = new StoreTime({ steady: () => performance.now() });
    const servers = new Servers(database.url);
    const one = new Database(servers, time, { ...poolSettings, connectionsMax: 1 });
    const walks = postgresWalks(one, new ObjectCache(0));
    for (let round = 0; round < 10; round += 1) {
      for (const limit of [1, 25, 50, 100]) {
        const { start } = await walks.beginWalk(organization, { userId: user }, limit);
        await walks.continueWalk(organization, { userId: user }, limit, { start, after: after5000 });
      }
    }
    const plans = await one.run<{ name: string; kept: number }>(
      Statement.for()(
        'plans',
      )`SELECT name, generic_plans AS kept FROM pg_prepared_statements WHERE name LIKE '%Page %'`,
    );
    assert.equal(plans.length, 6);
    for (const { name, kept } of plans) assert.ok(kept > 0, `${name} is planned each time`);
    await one.close();
  });

  // Rows before this are due: less than a batch, so that the second batch finds nothing.
  const due: Partial<Record<RetentionKind, number>> = {
    deleted_threads: 700,
    audit_events: 1,
    usage_days: 1,
    quota_days: 1,
    idempotency_keys: 10,
    sessions: 10,
    thread_moves: 10,
  };
  for (const [kind, before] of Object.entries(due) as [RetentionKind, number][]) {
    it(`removes expired ${kind.replaceAll('_', ' ')} without reading more rows than are due`, async () => {
      const now = Date.now();
      const keepMs = now - before * (retentionRules[kind].unitMs ?? 1);
      const clock = { wall: () => now, steady: () => 0 };
      const batches: number[] = [];
      const { scanned, searches, entries } = await rowsReadBy(async () => {
        const store = await openPostgresStore(database.url, poolSettings, clock);
        for (let round = 0; round < 2; round += 1) {
          const { removed, next } = await store.removeExpired(kind, keepMs, '');
          batches.push(removed);
          if (next !== null) break;
        }
        await store.close();
      });
      assert.ok(batches[0]! > 0 && batches[0]! < 200, `${batches[0]} rows removed`);
      assert.equal(batches[1], 0, 'one batch removed them all');
      assert.equal(scanned, 0, `${scanned} rows read by table scans`);
      assert.ok(searches > 0, 'the index searches were counted');
      assert.ok(entries < 1000, `${entries} index entries read`);
    });
  }
});
