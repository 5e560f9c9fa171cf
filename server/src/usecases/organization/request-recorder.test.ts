import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loggedRequest } from '../../../testing/contract/fixture.ts';
import type { LogPosition } from '../../domain/cursor.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { LoggedRequest, TrafficReport, UsageReport } from '../../storage/store.ts';
import { RequestRecorder } from './request-recorder.ts';

const acme = 'org_acme' as OrganizationId;
const hour = Date.UTC(2026, 10, 15, 12) / 3_600_000;

const request = (change: Partial<LoggedRequest> = {}) =>
  loggedRequest({ organizationId: acme, at: hour * 3_600_000, ...change });

/** A store that records what is written to its request log. */
class Log {
  isAway = false;
  /** The trace IDs of requests that it rejects. */
  readonly rejected = new Set<string>();
  /** Including batches that failed. */
  readonly batches: (readonly LoggedRequest[])[] = [];
  readonly logged: LoggedRequest[] = [];
  readonly traffic: TrafficReport[] = [];
  readonly usage: UsageReport[] = [];
  /** How many times it rejects counts. */
  rejections = 0;
  /** Called while entries are added. */
  whileAdding = () => {};
  old: LogPosition | undefined;
  searches = 0;
  /** How many parts of the log there are to remove. */
  oldParts = 0;

  async addRequests(requests: readonly LoggedRequest[]): Promise<boolean> {
    this.batches.push(requests);
    this.whileAdding();
    if (this.isAway) throw new Error('away');
    if (requests.some(({ traceId }) => this.rejected.has(traceId))) return false;
    this.logged.push(...requests);
    return true;
  }
  async addTraffic(counts: readonly TrafficReport[]): Promise<boolean> {
    if (this.isAway) throw new Error('away');
    if (this.rejections > 0) {
      this.rejections -= 1;
      return false;
    }
    this.traffic.push(...counts);
    return true;
  }
  async addUsage(reports: readonly UsageReport[]): Promise<void> {
    if (this.isAway) throw new Error('away');
    this.usage.push(...reports);
  }
  async findOldRequest(): Promise<LogPosition | undefined> {
    this.searches += 1;
    return this.old;
  }
  async removeRequests(): Promise<number> {
    if (this.oldParts === 0) return 0;
    this.oldParts -= 1;
    return 500;
  }
}

function recorderOf(keptMax = 100, flushNow = () => {}) {
  let dropped = 0;
  const recorder = new RequestRecorder({
    keptMax,
    telemetry: {
      requestNotLogged: () => {
        dropped += 1;
      },
    },
    flushNow,
  });
  return { recorder, dropped: () => dropped };
}

test('buffers requests while the store is unavailable, stores them once it is back, and drops those above the limit', async () => {
  const { recorder, dropped } = recorderOf();
  const log = new Log();
  log.isAway = true;
  for (let index = 0; index < 10_005; index += 1) recorder.request(request({ traceId: `t${index}` }));
  assert.equal(dropped(), 5);
  await assert.rejects(recorder.flush(log));
  await assert.rejects(recorder.flush(log));
  log.isAway = false;
  await recorder.flush(log);
  assert.equal(log.logged.length, 10_000);
  assert.deepEqual([log.logged[0]?.traceId, log.logged.at(-1)?.traceId], ['t0', 't9999']);
  await recorder.flush(log);
  assert.equal(log.logged.length, 10_000, 'nothing is stored twice');
});

test('asks for a flush before requests would be dropped', async () => {
  const log = new Log();
  const flushes: Promise<void>[] = [];
  const { recorder, dropped } = recorderOf(100, () => flushes.push(recorder.flush(log)));
  for (let index = 0; index < 30_000; index += 1) {
    recorder.request(request({ traceId: `t${index}` }));
    if (index % 5_000 === 4_999) await Promise.all(flushes);
  }
  assert.equal(dropped(), 0);
  assert.equal(flushes.length, 6);
  assert.equal(log.logged.length, 30_000);
});

test('stores requests once if flushes overlap', async () => {
  const { recorder } = recorderOf();
  const log = new Log();
  for (let index = 0; index < 500; index += 1) recorder.request(request({ traceId: `t${index}` }));
  await Promise.all([recorder.flush(log), recorder.flush(log)]);
  assert.deepEqual(
    log.batches.map(({ length }) => length),
    [200, 200, 100],
  );
});

test('stores what was counted while another flush was in progress', async () => {
  const { recorder } = recorderOf();
  const log = new Log();
  recorder.request(request({ traceId: 'first' }));
  const early = recorder.flush(log);
  recorder.request(request({ traceId: 'second' }));
  await recorder.flush(log);
  await early;
  assert.deepEqual(
    log.logged.map(({ traceId }) => traceId),
    ['first', 'second'],
  );
  const hourly = log.traffic.filter(({ unit }) => unit === 'hour').map(({ requests }) => requests);
  assert.equal(
    hourly.reduce((sum, count) => sum + count, 0),
    2,
  );
});

test('stores statistics even if requests arrive faster than their batches are stored', async () => {
  const { recorder } = recorderOf();
  const log = new Log();
  log.whileAdding = () => {
    if (log.batches.length < 50) recorder.request(request());
  };
  recorder.request(request());
  await recorder.flush(log);
  assert.equal(log.batches.length, 1);
  assert.equal(log.traffic.length, 2);
});

test('stores statistics in batches, and drops and counts those that the store rejects twice', async () => {
  const { recorder, dropped } = recorderOf(0);
  const log = new Log();
  log.rejections = 3;
  for (let index = 0; index < 450; index += 1)
    recorder.request(request({ organizationId: `org_${index}` as OrganizationId }));
  await recorder.flush(log);
  assert.equal(dropped(), 200);
  const hourly = log.traffic.filter(({ unit }) => unit === 'hour').map((count) => count.organizationId);
  assert.deepEqual(
    hourly,
    Array.from({ length: 250 }, (_, index) => `org_${200 + index}`),
  );
});

test('repeats a batch unchanged after an error, because the store may have committed it', async () => {
  const { recorder } = recorderOf();
  const log = new Log();
  log.isAway = true;
  recorder.request(request({ traceId: 'first' }));
  await assert.rejects(recorder.flush(log));
  recorder.request(request({ traceId: 'second' }));
  log.isAway = false;
  await recorder.flush(log);
  assert.deepEqual(
    log.batches.map((batch) => batch.map(({ traceId }) => traceId)),
    [['first'], ['first'], ['second']],
  );
});

test('drops and counts a batch that the store rejects twice, keeps its statistics, and stores the next', async () => {
  const { recorder, dropped } = recorderOf();
  const log = new Log();
  log.rejected.add('t7');
  for (let index = 0; index < 250; index += 1) recorder.request(request({ traceId: `t${index}` }));
  log.isAway = true;
  await assert.rejects(recorder.flush(log));
  assert.equal(dropped(), 0, 'nothing is dropped while the store is unavailable');
  log.isAway = false;
  await recorder.flush(log);
  assert.equal(dropped(), 200);
  assert.deepEqual(
    log.logged.map(({ traceId }) => traceId),
    Array.from({ length: 50 }, (_, index) => `t${200 + index}`),
  );
  assert.deepEqual(
    log.batches.map(({ length }) => length),
    [200, 200, 200, 50],
  );
  const hourly = log.traffic.filter(({ unit }) => unit === 'hour').map(({ requests }) => requests);
  assert.deepEqual(hourly, [250]);
});

test('does not drop a batch that the store rejects once', async () => {
  const { recorder, dropped } = recorderOf();
  const log = new Log();
  log.rejected.add('t1');
  recorder.request(request({ traceId: 't1' }));
  const sent = recorder.flush(log);
  log.rejected.clear();
  await sent;
  assert.deepEqual([dropped(), log.batches.length, log.logged.length], [0, 2, 1]);
});

test('counts requests and replies by hour and day, operation, outcome and duration', async () => {
  const { recorder } = recorderOf();
  const log = new Log();
  recorder.request(request());
  recorder.request(request());
  recorder.request(request({ code: 'NOT_FOUND', status: 404 }));
  recorder.request(request({ latencyUs: 900_000 }));
  recorder.request(request({ at: (hour + 24) * 3_600_000 }));
  const reply = { organizationId: acme, operation: 'reply', outcome: 'completed' };
  recorder.count({ ...reply, at: hour * 3_600_000, ms: 900 });
  await recorder.flush(log);
  const day = Math.floor(hour / 24);
  const shown = log.traffic.map(({ unit, period, operation, outcome, bucket, requests }) =>
    [unit, period - (unit === 'hour' ? hour : day), operation, outcome, bucket, requests].join(' '),
  );
  assert.deepEqual(shown, [
    'hour 0 getThread OK 1 2',
    'day 0 getThread OK 1 2',
    'hour 0 getThread NOT_FOUND 1 1',
    'day 0 getThread NOT_FOUND 1 1',
    'hour 0 getThread OK 15 1',
    'day 0 getThread OK 15 1',
    'hour 24 getThread OK 1 1',
    'day 1 getThread OK 1 1',
    'hour 0 reply completed 15 1',
    'day 0 reply completed 15 1',
  ]);
});

test('loses no statistics when the store fails', async () => {
  const { recorder } = recorderOf(0);
  const log = new Log();
  log.isAway = true;
  recorder.request(request());
  const failing = recorder.flush(log);
  recorder.request(request());
  await assert.rejects(failing, /away/);
  log.isAway = false;
  await recorder.flush(log);
  await recorder.flush(log);
  assert.deepEqual(
    log.traffic.map(({ unit, requests }) => [unit, requests]),
    [
      ['hour', 2],
      ['day', 2],
    ],
  );
});

test('checks the size of a log at its first entry, and then whenever it has grown by a twentieth', async () => {
  const { recorder } = recorderOf(100);
  const log = new Log();
  for (let index = 0; index < 12; index += 1) {
    recorder.request(request({ traceId: `t${index}` }));
    await recorder.flush(log);
  }
  assert.equal(log.searches, 3);
});

test('keeps statistics without a log if its limit is 0, and removes what was logged before', async () => {
  const { recorder } = recorderOf(0);
  const log = new Log();
  log.old = { at: 1, id: 't' };
  log.oldParts = 3;
  recorder.request(request());
  await recorder.flush(log);
  assert.deepEqual([log.logged.length, log.traffic.length], [0, 2]);
  for (let flushes = 0; flushes < 3; flushes += 1) {
    recorder.request(request());
    await recorder.flush(log);
  }
  assert.deepEqual([log.logged.length, log.oldParts, log.searches], [0, 0, 1]);
});

test('stores waiting requests between two parts of a long removal, and removes the rest even without requests', async () => {
  const { recorder } = recorderOf(100);
  const log = new Log();
  log.old = { at: 1, id: 't' };
  log.oldParts = 50;
  recorder.request(request());
  await recorder.flush(log);
  assert.ok(log.oldParts > 40, `${log.oldParts} parts left`);
  recorder.request(request({ organizationId: 'org_other' as OrganizationId, traceId: 'other' }));
  await recorder.flush(log);
  assert.equal(log.logged.at(-1)?.traceId, 'other');
  assert.ok(log.oldParts > 30, `${log.oldParts} parts left`);
  for (let flushes = 0; flushes < 50; flushes += 1) await recorder.flush(log);
  assert.equal(log.oldParts, 0);
});

const day = Math.floor(hour / 24);
const named = { organizationId: acme, credentialId: 'key_1', operation: 'getThread', outcome: 'OK', day };

test('adds up requests that differ only in their time, and keeps the latest time', async () => {
  const { recorder } = recorderOf();
  const log = new Log();
  const noon = hour * 3_600_000;
  for (const at of [noon, noon + 2000, noon + 1000]) recorder.request(request({ at }));
  await recorder.flush(log);
  assert.deepEqual(log.usage, [{ ...named, requests: 3, lastUsedAt: noon + 2000 }]);
});

test('counts credentials, operations, outcomes and days separately', async () => {
  const { recorder } = recorderOf();
  const log = new Log();
  recorder.request(request());
  recorder.request(request({ credentialId: 'key_2' }));
  recorder.request(request({ operation: 'listThreads' }));
  recorder.request(request({ code: 'NOT_FOUND' }));
  recorder.request(request({ at: (hour + 24) * 3_600_000 }));
  await recorder.flush(log);
  assert.deepEqual(
    log.usage.map(({ requests }) => requests),
    [1, 1, 1, 1, 1],
  );
});

test('stores the count of each request once', async () => {
  const { recorder } = recorderOf();
  const log = new Log();
  recorder.request(request());
  await recorder.flush(log);
  assert.equal(log.usage.length, 1);
  await recorder.flush(log);
  assert.equal(log.usage.length, 1);
});

test('does not call the store when there are no requests', async () => {
  const uncalled = () => assert.fail('the store was called');
  const [addRequests, addTraffic, addUsage] = [uncalled, uncalled, uncalled];
  const { recorder } = recorderOf();
  await recorder.flush(Object.assign(new Log(), { addRequests, addTraffic, addUsage }));
});

test('loses no counts when the store fails', async () => {
  const { recorder } = recorderOf();
  const log = new Log();
  log.isAway = true;
  const noon = hour * 3_600_000;
  recorder.request(request({ at: noon + 5000 }));
  const failing = recorder.flush(log);
  recorder.request(request({ at: noon }));
  await assert.rejects(failing, /away/);
  log.isAway = false;
  await recorder.flush(log);
  assert.deepEqual(log.usage, [{ ...named, requests: 2, lastUsedAt: noon + 5000 }]);
});

test('stores the counts of credentials even if the log cannot be stored', async () => {
  const { recorder } = recorderOf();
  const log = new Log();
  recorder.request(request());
  const failing = Object.assign(log, { addRequests: () => Promise.reject(new Error('no disk')) });
  await assert.rejects(recorder.flush(failing), /no disk/);
  assert.equal(log.usage.length, 1);
});
