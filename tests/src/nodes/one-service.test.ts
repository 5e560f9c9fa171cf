import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Api } from '../../harness/http/api.ts';
import type { ApiResponse } from '../../harness/http/conformance.ts';
import { type LoadAround, loadAround, sendMany } from '../../harness/http/load.ts';
import { listFaults, Nodes } from '../../harness/nodes/nodes.ts';
import type { Service } from '../../harness/service/service.ts';
import { dayMs } from '../../harness/service/shifted-clock.ts';
import { exchange, makeApplication, requestToken } from '../../harness/world/applications.ts';
import { makeMember, makeOrganization, makeOrgWideKey } from '../../harness/world/tenants.ts';
import { createThread } from '../../harness/world/world.ts';

const baseUrl = 'https://skein.example';

describe('Three nodes on one database', () => {
  let nodes: Nodes;
  let services: readonly (Service & { readonly address: string })[];
  before(async () => {
    nodes = await Nodes.prepare();
    services = await Promise.all(Array.from({ length: 3 }, () => nodes.startBehind(baseUrl)));
  });
  after(async () => {
    for (const service of services) {
      assert.deepEqual(listFaults(service), []);
      assert.equal(await service.end(), 0);
    }
    await nodes.end();
  });

  const openApis = (credential: string) => services.map((service) => new Api(service.address, credential));
  const nodeAt = <T>(ofNodes: readonly T[], place: number) => ofNodes[place % ofNodes.length] as T;

  it('grant exactly the quota under concurrent load, and never report a negative remainder', async () => {
    const quota = 97;
    // Only the end of the day could grant more. The clock is not shifted, because the quota uses the node's day.
    await untilFarFromMidnight();
    const organization = await makeOrganization(services[0]!, 'Metered', quota);
    const [ada, wide] = await Promise.all([
      makeMember(services[0]!, organization, 'ada@metered.example'),
      makeOrgWideKey(services[0]!, organization),
    ]);
    const apis = [...openApis(ada.key), ...openApis(wide.key)];
    const kinds: ((api: Api) => Promise<ApiResponse>)[] = [
      (api) => api.list({ limit: 1 }),
      (api) => api.create({ prompt: 'Does this count?' }),
      (api) => api.get('thr_missing'),
      (api) => api.create({ prompt: '' }),
    ];
    const answers = await sendMany(4 * quota, 48, (place) => nodeAt(kinds, place)(nodeAt(apis, place)));
    const refused = answers.filter(({ status }) => status === 429);
    assert.equal(answers.length - refused.length, quota);
    assert.ok(refused.every(({ body }) => body.error.code === 'RATE_LIMITED'));
    const remaining = answers.map(({ headers }) =>
      Number(/r=(-?\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]),
    );
    assert.ok(remaining.every((count) => count >= 0 && count < quota));
    const granted = remaining.filter((_, place) => answers[place]!.status !== 429);
    assert.deepEqual(
      granted.sort((a, b) => b - a),
      Array.from({ length: quota }, (_, place) => quota - 1 - place),
      'each granted request shows a different remaining quota',
    );
  });

  /** Fails unless every node succeeds before the change and returns only 401 after it. */
  async function assertRefusedEverywhere(credential: string, change: () => Promise<unknown>): Promise<void> {
    const apis = openApis(credential);
    const { before, after }: LoadAround = await loadAround(
      (place) => (place % 2 === 0 ? nodeAt(apis, place).list() : nodeAt(apis, place).get('thr_missing')),
      change,
    );
    assert.ok(before.filter(({ status }) => status === 200).length > 20);
    assert.ok(after.length > 20);
    assert.deepEqual(
      [...new Set(after.map(({ status, body }) => `${status} ${body.error?.code}`))],
      ['401 UNAUTHORIZED'],
    );
  }

  describe('reject on every node, as soon as the command has ended,', () => {
    it('a key that was revoked', async () => {
      const key = await makeOrgWideKey(services[0]!, nodes.organization);
      await assertRefusedEverywhere(key.key, () => nodes.skein('key', 'revoke', nodes.organization, key.id));
    });

    it('the keys of a member who was removed', async () => {
      const ben = await makeMember(services[0]!, nodes.organization, 'ben@acme.example');
      const remove = () => nodes.skein('member', 'remove', nodes.organization, 'ben@acme.example');
      await assertRefusedEverywhere(ben.key, remove);
    });

    for (const verb of ['rotate', 'delete']) {
      it(`the tokens and the secret of an application, after ${verb}`, async () => {
        const application = await makeApplication(services[0]!, nodes.organization);
        const token = await exchange(services[1]!.address, application);
        const change = () => nodes.skein('app', verb, nodes.organization, application.clientId);
        await assertRefusedEverywhere(token, change);
        for (const service of services) {
          assert.equal((await requestToken(service.address, application)).status, 401);
        }
      });
    }
  });

  describe('share', () => {
    it('access tokens, the issuer and the signing keys', async () => {
      const application = await makeApplication(services[0]!, nodes.organization);
      for (const issuer of services) {
        const token = await exchange(issuer.address, application);
        for (const api of openApis(token)) assert.equal((await api.list()).status, 200);
      }
      const documents = await Promise.all(services.map((service) => publishedBy(service.address)));
      assert.ok(documents[0]!.includes(baseUrl));
      assert.equal(new Set(documents).size, 1);
    });

    it('idempotency keys: concurrent requests with the same key create one thread', async () => {
      const apis = openApis(nodes.adaKey);
      for (let round = 0; round < 8; round += 1) {
        const headers = { 'idempotency-key': `round ${round}` };
        const body = { prompt: `Once, in round ${round}` };
        const answers = await sendMany(12, 12, (place) => nodeAt(apis, place).create(body, headers));
        assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
        assert.equal(new Set(answers.map(({ body: made }) => JSON.stringify(made))).size, 1);
        const other = await nodeAt(apis, round).create({ prompt: 'Another' }, headers);
        assert.equal(other.status, 400);
      }
    });

    it('cursors: a walk continues at any node', async () => {
      const apis = openApis(nodes.adaKey);
      for (let place = 0; place < 12; place += 1) await createThread(nodeAt(apis, place));
      const whole = (await apis[0]!.walk({ limit: 100 })).map(({ id }) => id);
      const shown: string[] = [];
      let cursor: string | null | undefined;
      for (let page = 0; cursor !== null; page += 1) {
        const { status, body } = await nodeAt(apis, page).list({ limit: 3, ...(cursor && { cursor }) });
        assert.equal(status, 200);
        shown.push(...body.threads.map(({ id }: { id: string }) => id));
        cursor = body.nextCursor;
      }
      assert.ok(shown.length >= 12);
      assert.deepEqual(shown, whole);
    });
  });

  it("show at once what the operator's commands did", async () => {
    const organization = await makeOrganization(services[0]!, 'Changing');
    const [ada, ben] = await Promise.all([
      makeMember(services[0]!, organization, 'ada@changing.example'),
      makeMember(services[0]!, organization, 'ben@changing.example'),
    ]);
    const { thread } = await createThread(openApis(ada.key)[0]!);
    const statuses = async () =>
      (await Promise.all(openApis(ben.key).map((api) => api.get(thread.id)))).map(({ status }) => status);
    assert.deepEqual(await statuses(), [404, 404, 404]);
    await nodes.skein('thread', 'publish', organization, thread.id);
    assert.deepEqual(await statuses(), [200, 200, 200]);
    await nodes.skein('org', 'set', organization, '--quota', '0');
    assert.deepEqual(await statuses(), [429, 429, 429]);
    await nodes.skein('org', 'set', organization, '--api', 'off', '--quota', '1000');
    assert.deepEqual(await statuses(), [404, 404, 404]);
    await nodes.skein('org', 'set', organization, '--api', 'on');
    assert.deepEqual(await statuses(), [200, 200, 200]);
  });
});

async function publishedBy(address: string): Promise<string> {
  const metadata = await fetch(`${address}/.well-known/oauth-authorization-server`);
  const keys = await fetch(`${address}/.well-known/jwks.json`);
  assert.deepEqual([metadata.status, keys.status], [200, 200]);
  return `${await metadata.text()} ${await keys.text()}`;
}

/** Waits during the minute before midnight UTC, because the quota would reset in the middle of the test. */
async function untilFarFromMidnight(): Promise<void> {
  const leftMs = dayMs - (Date.now() % dayMs);
  if (leftMs < 60_000) await new Promise((resolve) => setTimeout(resolve, leftMs + 1000));
}
