import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { loggedRequest } from '../../../testing/contract/fixture.ts';
import type { LogPosition } from '../../domain/cursor.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { LoggedRequest, TrafficReport } from '../../storage/port/store.ts';
import { requestRecorder } from './request-recorder.ts';

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

function createRecorder(log: Parameters<typeof requestRecorder>[0], keptMax = 100) {
  let dropped = 0;
  const telemetry = {
    requestNotLogged: () => {
      dropped += 1;
    },
  };
  return { recorder: requestRecorder(log, keptMax, telemetry), dropped: () => dropped };
}

test('buffers requests while the store is unavailable, stores them once it is back, and drops those above the limit', async () => {
  const log = new Log();
  const { recorder, dropped } = createRecorder(log);
  log.isAway = true;
  // A batch is on its way to the store while the others wait.
  for (let index = 0; index < 10_205; index += 1) recorder.request(request({ traceId: `t${index}` }));
  assert.equal(dropped(), 5);
  await assert.rejects(recorder.flush());
  await assert.rejects(recorder.flush());
  log.isAway = false;
  await recorder.flush();
  assert.equal(log.logged.length, 10_200);
  assert.deepEqual([log.logged[0]?.traceId, log.logged.at(-1)?.traceId], ['t0', 't10199']);
  await recorder.flush();
  assert.equal(log.logged.length, 10_200, 'nothing is stored twice');
});

test('flushes early before requests would be dropped', async () => {
  const log = new Log();
  const { recorder, dropped } = createRecorder(log);
  for (let index = 0; index < 30_000; index += 1) {
    recorder.request(request({ traceId: `t${index}` }));
    if (index % 5_000 !== 4_999) continue;
    await nextTurn();
    assert.equal(log.logged.length, index + 1);
  }
  assert.equal(dropped(), 0);
});

test('stores requests once if flushes overlap', async () => {
  const log = new Log();
  const { recorder } = createRecorder(log);
  for (let index = 0; index < 500; index += 1) recorder.request(request({ traceId: `t${index}` }));
  await Promise.all([recorder.flush(), recorder.flush()]);
  assert.deepEqual(
    log.batches.map(({ length }) => length),
    [200, 200, 100],
  );
});

test('stores what was counted while another flush was in progress', async () => {
  const log = new Log();
  const { recorder } = createRecorder(log);
  recorder.request(request({ traceId: 'first' }));
  const early = recorder.flush();
  recorder.request(request({ traceId: 'second' }));
  await recorder.flush();
  await early;
  assert.deepEqual(
    log.logged.map(({ traceId }) => traceId),
    ['first', 'second'],
  );
  assert.equal(
    log.traffic.reduce((sum, { requests }) => sum + requests, 0),
    2,
  );
});

test('stores statistics even if requests arrive faster than their batches are stored', async () => {
  const log = new Log();
  const { recorder } = createRecorder(log);
  log.whileAdding = () => {
    if (log.batches.length < 50) recorder.request(request());
  };
  recorder.request(request());
  await recorder.flush();
  assert.equal(log.batches.length, 1);
  assert.equal(log.traffic.length, 1);
});

test('stores statistics in batches, and drops and counts those that the store rejects twice', async () => {
  const log = new Log();
  const { recorder, dropped } = createRecorder(log, 0);
  log.rejections = 3;
  for (let index = 0; index < 450; index += 1)
    recorder.request(request({ organizationId: `org_${index}` as OrganizationId }));
  await recorder.flush();
  assert.equal(dropped(), 200);
  assert.deepEqual(
    log.traffic.map(({ organizationId }) => organizationId),
    Array.from({ length: 250 }, (_, index) => `org_${200 + index}`),
  );
});

test('repeats a batch unchanged after an error, because the store may have committed it', async () => {
  const log = new Log();
  const { recorder } = createRecorder(log);
  log.isAway = true;
  recorder.request(request({ traceId: 'first' }));
  await assert.rejects(recorder.flush());
  recorder.request(request({ traceId: 'second' }));
  log.isAway = false;
  await recorder.flush();
  assert.deepEqual(
    log.batches.map((batch) => batch.map(({ traceId }) => traceId)),
    [['first'], ['first'], ['second']],
  );
});

test('drops and counts a batch that the store rejects twice, keeps its statistics, and stores the next', async () => {
  const log = new Log();
  const { recorder, dropped } = createRecorder(log);
  log.rejected.add('t7');
  for (let index = 0; index < 250; index += 1) recorder.request(request({ traceId: `t${index}` }));
  log.isAway = true;
  await assert.rejects(recorder.flush());
  assert.equal(dropped(), 0, 'nothing is dropped while the store is unavailable');
  log.isAway = false;
  await recorder.flush();
  assert.equal(dropped(), 200);
  assert.deepEqual(
    log.logged.map(({ traceId }) => traceId),
    Array.from({ length: 50 }, (_, index) => `t${200 + index}`),
  );
  assert.deepEqual(
    log.batches.map(({ length }) => length),
    [200, 200, 200, 50],
  );
  assert.deepEqual(
    log.traffic.map(({ requests }) => requests),
    [250],
  );
});

test('does not drop a batch that the store rejects once', async () => {
  const log = new Log();
  const { recorder, dropped } = createRecorder(log);
  log.rejected.add('t1');
  recorder.request(request({ traceId: 't1' }));
  const sent = recorder.flush();
  log.rejected.clear();
  await sent;
  assert.deepEqual([dropped(), log.batches.length, log.logged.length], [0, 2, 1]);
});

test('counts requests and replies by credential, hour, operation, outcome and duration', async () => {
  const log = new Log();
  const { recorder } = createRecorder(log);
  const key = { credentialId: 'key_1' };
  recorder.request(request(key));
  recorder.request(request(key));
  recorder.request(request({ ...key, code: 'NOT_FOUND', status: 404 }));
  recorder.request(request({ ...key, operation: 'listThreads' }));
  recorder.request(request({ ...key, latencyUs: 900_000 }));
  recorder.request(request({ ...key, at: (hour + 24) * 3_600_000 }));
  recorder.request(request({ credentialId: 'key_2' }));
  const reply = { organizationId: acme, credentialId: null, operation: 'reply', outcome: 'completed' };
  recorder.count({ ...reply, at: hour * 3_600_000, ms: 900 });
  await recorder.flush();
  const shown = log.traffic.map((report) =>
    [
      report.credentialId,
      report.hour - hour,
      report.operation,
      report.outcome,
      report.bucket,
      report.requests,
    ].join(' '),
  );
  assert.deepEqual(shown, [
    'key_1 0 getThread OK 1 2',
    'key_1 0 getThread NOT_FOUND 1 1',
    'key_1 0 listThreads OK 1 1',
    'key_1 0 getThread OK 15 1',
    'key_1 24 getThread OK 1 1',
    'key_2 0 getThread OK 1 1',
    ' 0 reply completed 15 1',
  ]);
});

test('reports when the latest of the requests that it adds up ended', async () => {
  const log = new Log();
  const { recorder } = createRecorder(log);
  const start = hour * 3_600_000;
  for (const at of [start, start + 2000, start + 1000]) recorder.request(request({ at }));
  await recorder.flush();
  assert.deepEqual(
    log.traffic.map(({ requests, lastAt }) => [requests, lastAt - start]),
    [[3, 2000]],
  );
});

test('does not call the store when there is nothing to store', async () => {
  const fail = () => assert.fail('the store was called');
  const log = { addRequests: fail, addTraffic: fail, findOldRequest: fail, removeRequests: fail };
  await createRecorder(log).recorder.flush();
});

test('loses no statistics when the store fails', async () => {
  const log = new Log();
  const { recorder } = createRecorder(log, 0);
  log.isAway = true;
  const start = hour * 3_600_000;
  recorder.request(request({ at: start + 5000 }));
  const failing = recorder.flush();
  recorder.request(request());
  await assert.rejects(failing, /away/);
  log.isAway = false;
  await recorder.flush();
  await recorder.flush();
  assert.deepEqual(
    log.traffic.map(({ requests, lastAt }) => [requests, lastAt - start]),
    [[2, 5000]],
  );
});

test('checks the size of a log at its first entry, and then whenever it has grown by a twentieth', async () => {
  const log = new Log();
  const { recorder } = createRecorder(log, 100);
  for (let index = 0; index < 12; index += 1) {
    recorder.request(request({ traceId: `t${index}` }));
    await recorder.flush();
  }
  assert.equal(log.searches, 3);
});

test('keeps statistics without a log if its limit is 0, and removes what was logged before', async () => {
  const log = new Log();
  const { recorder } = createRecorder(log, 0);
  log.old = { at: 1, id: 't' };
  log.oldParts = 3;
  recorder.request(request());
  await recorder.flush();
  assert.deepEqual([log.logged.length, log.traffic.length], [0, 1]);
  for (let flushes = 0; flushes < 3; flushes += 1) {
    recorder.request(request());
    await recorder.flush();
  }
  assert.deepEqual([log.logged.length, log.oldParts, log.searches], [0, 0, 1]);
});

test('stores waiting requests between two parts of a long removal, and removes the rest even without requests', async () => {
  const log = new Log();
  const { recorder } = createRecorder(log, 100);
  log.old = { at: 1, id: 't' };
  log.oldParts = 50;
  recorder.request(request());
  await recorder.flush();
  assert.ok(log.oldParts > 40, `${log.oldParts} parts left`);
  recorder.request(request({ organizationId: 'org_other' as OrganizationId, traceId: 'other' }));
  await recorder.flush();
  assert.equal(log.logged.at(-1)?.traceId, 'other');
  assert.ok(log.oldParts > 30, `${log.oldParts} parts left`);
  for (let flushes = 0; flushes < 50; flushes += 1) await recorder.flush();
  assert.equal(log.oldParts, 0);
});

test('stores statistics even if the log cannot be stored', async () => {
  const log = new Log();
  const { recorder } = createRecorder(log);
  recorder.request(request());
  log.addRequests = () => Promise.reject(new Error('no disk'));
  await assert.rejects(recorder.flush(), /no disk/);
  assert.equal(log.traffic.length, 1);
});
