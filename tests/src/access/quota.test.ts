import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Api } from '../../harness/http/api.ts';
import type { ApiResponse } from '../../harness/http/conformance.ts';
import { sendMany } from '../../harness/http/load.ts';
import { operate, Service, temporaryFolder } from '../../harness/service/service.ts';
import { startWithoutDemo } from '../../harness/service/shared-service.ts';
import { clockAtNoon } from '../../harness/service/shifted-clock.ts';
import { type IssuedKey, makeMember, makeOrganization, makeOrgWideKey } from '../../harness/world/tenants.ts';

describe('The daily quota', { concurrency: 3 }, () => {
  let first: Service;
  let second: Service;

  before(async () => {
    first = await startWithoutDemo(clockAtNoon());
    second = await Service.start({ folder: first.folder, environment: clockAtNoon() });
  });
  after(() => Promise.all([first.end(), second.end()]));

  /** Sends requests to both processes. Returns how many were admitted. */
  async function countGranted({ key }: IssuedKey, count: number): Promise<number> {
    const apis = [new Api(first.baseUrl, key), new Api(second.baseUrl, key)] as const;
    return granted(await sendMany(count, 24, (place) => apis[place % 2 === 0 ? 0 : 1].list({ limit: 1 })));
  }

  async function makeMetered(quota: number): Promise<IssuedKey & { organization: string }> {
    const organization = await makeOrganization(first, `Metered ${quota}`, quota);
    return { organization, ...(await makeOrgWideKey(first, organization)) };
  }

  it('grants exactly its number of requests across two processes, all credentials and all outcomes', async () => {
    const quota = 60;
    const metered = await makeMetered(quota);
    const { key } = await makeMember(first, metered.organization, 'ada@example.com');
    const kinds: ((api: Api) => Promise<ApiResponse>)[] = [
      (api) => api.list(),
      (api) => api.create({ prompt: 'Does this count?' }),
      (api) => api.get('thr_missing'),
      (api) => api.create({ prompt: '' }),
      (api) => api.rename('thr_missing', 'Title'),
      (api) => api.call('GET', '/no/such/route'),
      (api) => api.call('PUT', '/threads'),
    ];
    const apis = [first, second].flatMap(({ baseUrl }) =>
      [key, metered.key].map((text) => new Api(baseUrl, text)),
    );
    const answers = await sendMany(4 * quota, 32, (place) =>
      kinds[place % kinds.length]!(apis[place % apis.length]!),
    );
    assert.equal(granted(answers), quota);
    const statuses = new Set(answers.map(({ status }) => status));
    assert.deepEqual([...statuses].sort(), [200, 201, 400, 403, 404, 429]);
    for (const { headers } of answers.filter(({ status }) => status === 429)) {
      assert.ok(Number(headers.get('retry-after')) > 0);
    }
  });

  it('does not affect other organizations when it is used up', async () => {
    const [poor, rich] = await Promise.all([makeMetered(2), makeMetered(1000)]);
    assert.equal(await countGranted(poor, 10), 2);
    assert.equal(await countGranted(rich, 10), 10);
  });

  it('reports the remaining quota in each response', async () => {
    const { api } = await makeMetered(3);
    const responses: string[] = [];
    for (let place = 0; place < 4; place += 1) {
      const { status, headers } = await api.list();
      responses.push(`${status} ${/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]}`);
      assert.match(headers.get('ratelimit-policy') ?? '', /q=3;w=86400/);
    }
    assert.deepEqual(responses, ['200 2', '200 1', '200 0', '429 0']);
  });

  it('applies a raised or lowered value at once', async () => {
    const metered = await makeMetered(5);
    const change = (quota: number) => first.skein('org', 'set', metered.organization, '--quota', `${quota}`);
    assert.equal(await countGranted(metered, 20), 5);
    await change(9);
    assert.equal(await countGranted(metered, 20), 4);
    await change(4);
    assert.equal(await countGranted(metered, 20), 0);
    await change(12);
    assert.equal(await countGranted(metered, 20), 3);
    await change(0);
    assert.equal(await countGranted(metered, 20), 0);
  });

  it('counts nothing for 401, for an organization without the public API, and for 429', async () => {
    const metered = await makeMetered(10);
    const revoked = await makeOrgWideKey(first, metered.organization);
    await first.skein('key', 'revoke', metered.organization, revoked.id);
    assert.equal(await countGranted(metered, 3), 3);

    const bad = [revoked.key, `${metered.key}x`, 'nonsense', undefined];
    const unauthorized = await sendMany(20, 8, (place) => new Api(first.baseUrl, bad[place % 4]).list());
    assert.ok(unauthorized.every(({ status }) => status === 401));
    await first.skein('org', 'set', metered.organization, '--api', 'off');
    const notEnabled = await sendMany(20, 8, () => metered.api.list());
    assert.ok(notEnabled.every(({ status }) => status === 404));
    await first.skein('org', 'set', metered.organization, '--api', 'on');

    assert.equal(await countGranted(metered, 30), 7);
    await first.skein('org', 'set', metered.organization, '--quota', '12');
    assert.equal(await countGranted(metered, 30), 2);
  });

  it('resets at the next UTC day', async () => {
    const metered = await makeMetered(4);
    assert.equal(await countGranted(metered, 10), 4);
    const tomorrow = await Service.start({ folder: first.folder, environment: clockAtNoon(1) });
    const api = new Api(tomorrow.baseUrl, metered.key);
    assert.equal(granted(await sendMany(10, 4, () => api.list())), 4);
    assert.equal(await tomorrow.end(), 0);
    assert.equal(await countGranted(metered, 10), 0);
  });
});

describe('The daily quota of a service that stops', () => {
  const quota = 60;
  const folder = temporaryFolder();
  let endedKey: string;
  let killedKey: string;

  before(async () => {
    const makeKey = async (name: string): Promise<string> => {
      const { id } = await operate(folder, ['org', 'create', name, '--quota', String(quota)]);
      return (await operate(folder, ['key', 'create', id, '--org-wide'])).key;
    };
    [endedKey, killedKey] = await Promise.all([makeKey('Ended'), makeKey('Killed')]);
  });

  /** Sends requests to a process, then ends it with the signal. Returns how many were admitted. */
  async function grantedUntil(signal: NodeJS.Signals, key: string, count: number): Promise<number> {
    const service = await Service.start({ folder, environment: clockAtNoon() });
    const api = new Api(service.baseUrl, key);
    const counted = granted(await sendMany(count, 16, () => api.list()));
    assert.equal(await service.end(signal), signal === 'SIGKILL' ? 'SIGKILL' : 0);
    return counted;
  }

  it('is unchanged after SIGTERM and after SIGKILL', async () => {
    assert.equal(await grantedUntil('SIGTERM', endedKey, 25), 25);
    assert.equal(await grantedUntil('SIGKILL', endedKey, 15), 15);
    assert.equal(await grantedUntil('SIGTERM', endedKey, 2 * quota), quota - 25 - 15);
  });

  it('grants no request twice when killed under load, and loses at most the requests without a response', async () => {
    const service = await Service.start({ folder, environment: clockAtNoon() });
    const api = new Api(service.baseUrl, killedKey);
    let answered = 0;
    let unanswered = 0;
    let ended: Promise<unknown> | undefined;
    await sendMany(quota, 15, async () => {
      if (ended !== undefined) return;
      const answer = await api.list().catch(() => undefined);
      if (answer === undefined) {
        unanswered += 1;
        return;
      }
      assert.equal(answer.status, 200);
      answered += 1;
      if (answered === 5) ended = service.end('SIGKILL');
    });
    await ended;
    assert.ok(answered >= 5 && unanswered > 0, `${answered} answered, ${unanswered} not`);

    const counted = quota - (await grantedUntil('SIGTERM', killedKey, 2 * quota));
    assert.ok(counted >= answered, `${counted} counted, ${answered} answered`);
    assert.ok(counted <= answered + unanswered, `${counted} counted, ${answered + unanswered} sent`);
  });
});

function granted(answers: readonly ApiResponse[]): number {
  for (const { status, body } of answers) {
    if (status === 429) assert.equal(body.error.code, 'RATE_LIMITED');
    else assert.ok(status < 500 && status !== 401, `${status} is neither granted nor refused by the quota`);
  }
  return answers.filter(({ status }) => status !== 429).length;
}
