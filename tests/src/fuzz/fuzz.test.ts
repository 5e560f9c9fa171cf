import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { Api } from '../../harness/http/api.ts';
import { assertEnvelope, RawConnection, type RawResponse } from '../../harness/http/raw-http.ts';
import type { Service } from '../../harness/service/service.ts';
import { startWithoutDemo } from '../../harness/service/shared-service.ts';
import { makeMember, makeOrganization, makeOrgWideKey } from '../../harness/world/tenants.ts';
import type { Fixture } from './fuzz-part.ts';
import { type FuzzRequest, fuzzRequests } from './fuzz-requests.ts';

const seed = Number(process.env.FUZZ_SEED ?? 20_261_115);
const count = 20_000;
const connections = 8;
const pipelined = 16;

describe('A service that is sent 20,000 malformed requests', () => {
  let service: Service;
  let fixture: Fixture;
  before(async () => {
    service = await startWithoutDemo({ SKEIN_MODEL: 'extractive' });
    fixture = await prepare(service);
  });
  after(() => service?.end());

  it('responds to each according to the order of checks, and stays healthy', {
    timeout: 600_000,
  }, async (t) => {
    t.diagnostic(`seed ${seed}: FUZZ_SEED=${seed} repeats this run`);
    const requests = fuzzRequests(fixture, count, seed);
    const expected = tally(requests.map(({ status }) => status));
    // Checks that every kind of rejection occurred. Otherwise the test would prove less than it claims.
    assert.deepEqual(Object.keys(expected), ['200', '201', '304', '400', '401', '403', '404']);
    for (const [status, times] of Object.entries(expected)) assert.ok(times >= 50, `${status}: ${times}`);
    const memoryBefore = residentMebibytes(service.pid);

    const began = Date.now();
    const statuses = await sendAll(service, requests);
    t.diagnostic(
      `${statuses.length} answers in ${Date.now() - began} ms: ${JSON.stringify(tally(statuses))}`,
    );

    assert.ok(statuses.length >= 20_000);
    assert.deepEqual(tally(statuses), expected);
    assert.deepEqual(
      service.output.filter((line) => line.includes('"level":50')),
      [],
      'nothing unexpected happened',
    );
    const grown = residentMebibytes(service.pid) - memoryBefore;
    assert.ok(grown < 300, `memory grew by ${grown} MiB`);
    await answersQuickly(service, fixture);
  });
});

async function prepare(service: Service): Promise<Fixture> {
  const [organization, outside] = await Promise.all([
    makeOrganization(service, 'Fuzzed'),
    makeOrganization(service, 'Outside'),
  ]);
  const [ada, ben, eve, wide] = await Promise.all([
    makeMember(service, organization, 'ada@fuzzed.example'),
    makeMember(service, organization, 'ben@fuzzed.example'),
    makeMember(service, outside, 'eve@outside.example'),
    makeOrgWideKey(service, organization),
  ]);
  const foreign = await ben.api.create({ prompt: 'For all to see' });
  await Promise.all([
    service.skein('thread', 'publish', organization, foreign.body.thread.id),
    service.skein('key', 'revoke', organization, ben.id),
    service.skein('org', 'set', outside, '--api', 'off'),
  ]);
  const own = await ada.api.create({ prompt: 'Mine' });
  return {
    key: ada.key,
    orgWideKey: wide.key,
    revokedKey: ben.key,
    outsideKey: eve.key,
    threadId: own.body.thread.id,
    foreignPublishedId: foreign.body.thread.id,
  };
}

/** All statuses, in no order. Fails with the first few requests that got a wrong response. */
async function sendAll(service: Service, requests: readonly FuzzRequest[]): Promise<number[]> {
  const shared = requests.filter(({ alone }) => !alone);
  const alone = requests.filter((request) => request.alone);
  assert.ok(shared.length > 0 && alone.length > 0);
  const statuses: number[] = [];
  const faults: string[] = [];
  const take = (request: FuzzRequest, answer: RawResponse) => {
    statuses.push(answer.status);
    try {
      check(request, answer);
    } catch (error) {
      faults.push(
        `${describeBytes(request)}\n→ ${answer.status} ${answer.body.slice(0, 200)}\n${(error as Error).message}`,
      );
    }
  };
  const lost = (request: FuzzRequest, error: unknown) =>
    faults.push(`${describeBytes(request)}\n→ ${(error as Error).message}`);
  const lane = async () => {
    while (faults.length < 5) {
      const batch = shared.splice(0, pipelined);
      const single = batch.length === 0 ? alone.shift() : undefined;
      if (batch.length > 0) shared.unshift(...(await sendTogether(service, batch, take, lost)));
      else if (single !== undefined) await sendAlone(service, single, take, lost);
      else return;
    }
  };
  await Promise.all(Array.from({ length: connections }, lane));
  assert.equal(faults.length, 0, faults.join('\n\n'));
  return statuses;
}

type Take = (request: FuzzRequest, answer: RawResponse) => void;
type Lost = (request: FuzzRequest, error: unknown) => void;

/** Returns the requests that the service did not read because it closed the connection, as it announced. */
async function sendTogether(
  service: Service,
  batch: readonly FuzzRequest[],
  take: Take,
  lost: Lost,
): Promise<FuzzRequest[]> {
  const connection = await RawConnection.open(service);
  connection.send(Buffer.concat(batch.map(({ bytes }) => bytes)));
  for (const [index, request] of batch.entries()) {
    try {
      const answer = await connection.answer(request.method);
      take(request, answer);
      if (answer.headers.get('connection') === 'close') {
        connection.close();
        return batch.slice(index + 1);
      }
    } catch (error) {
      lost(request, error);
      break;
    }
  }
  connection.close();
  return [];
}

async function sendAlone(service: Service, request: FuzzRequest, take: Take, lost: Lost): Promise<void> {
  const connection = await RawConnection.open(service);
  connection.send(request.bytes);
  if (request.cut) connection.finish();
  try {
    take(request, await connection.answer(request.method));
  } catch (error) {
    lost(request, error);
  } finally {
    connection.close();
  }
}

const successKeys = [
  ['thread', 'messageId', 'responseMessageId'],
  ['thread', 'messages', 'status'],
  ['threads', 'nextCursor', 'truncated'],
  ['thread'],
];

function check({ status, method }: FuzzRequest, answer: RawResponse): void {
  assert.equal(answer.status, status, `${status} expected`);
  if (answer.status >= 400) assertEnvelope(answer, method);
  else if (answer.body !== '')
    assert.ok(successKeys.some((keys) => keys.join() === Object.keys(JSON.parse(answer.body)).join()));
  else assert.ok(method === 'HEAD' || answer.status === 304);
}

/** Creates, reads and lists a thread after the malformed requests, within a second. */
async function answersQuickly({ baseUrl }: Service, { key }: Fixture): Promise<void> {
  const api = new Api(baseUrl, key);
  const began = Date.now();
  const { status, body } = await api.create({ prompt: 'Still there?' });
  assert.equal(status, 201);
  assert.equal((await api.get(body.thread.id)).status, 200);
  assert.equal((await api.list()).status, 200);
  assert.ok(Date.now() - began < 1000, `${Date.now() - began} ms`);
}

function tally(statuses: readonly number[]): Record<string, number> {
  const times: Record<string, number> = {};
  for (const status of statuses.toSorted((a, b) => a - b)) times[status] = (times[status] ?? 0) + 1;
  return times;
}

function describeBytes({ bytes }: FuzzRequest): string {
  return JSON.stringify(bytes.toString('latin1', 0, 600));
}

function residentMebibytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
