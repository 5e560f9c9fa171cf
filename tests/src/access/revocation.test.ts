import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Api } from '../../harness/http/api.ts';
import type { ApiResponse } from '../../harness/http/conformance.ts';
import { type LoadAround, loadAround } from '../../harness/http/load.ts';
import { runCommand, Service } from '../../harness/service/service.ts';
import { sharedService } from '../../harness/service/shared-service.ts';
import {
  exchange,
  type IssuedApplication,
  makeApplication,
  requestToken,
} from '../../harness/world/applications.ts';
import {
  type IssuedKey,
  makeMember,
  makeOrganization,
  makeOrgWideKey,
  makePersonalKey,
} from '../../harness/world/tenants.ts';

describe('Revocation, with two running processes under load', { concurrency: 3 }, () => {
  let first: Service;
  let second: Service;
  let organization: string;
  let other: string;
  let leaving: string;

  before(async () => {
    first = await sharedService();
    second = await Service.start({ folder: first.folder, environment: { SKEIN_MODEL: 'scripted' } });
    [organization, other, leaving] = await Promise.all([
      makeOrganization(first, 'Load'),
      makeOrganization(first, 'Other'),
      makeOrganization(first, 'To be disabled'),
    ]);
  });
  after(() => second.end());

  /** Reads, and writes if the key may, at both processes. */
  function createRequests(
    { key }: Pick<IssuedKey, 'key'>,
    writes: boolean,
  ): (place: number) => Promise<ApiResponse> {
    const apis = [new Api(first.baseUrl, key), new Api(second.baseUrl, key)] as const;
    return (place) => {
      const api = apis[place % 2 === 0 ? 0 : 1];
      if (place % 3 === 0 && writes) return api.create({ prompt: 'Still here?' });
      return place % 3 === 1 ? api.get('thr_missing') : api.list();
    };
  }

  it('rejects a personal key as soon as the command has ended, in every process', async () => {
    const ada = await makeMember(first, organization, 'ada@example.com');
    const revoke = () => first.skein('key', 'revoke', organization, ada.id);
    assertTurned(await loadAround(createRequests(ada, true), revoke), 401, 'UNAUTHORIZED');
  });

  it('rejects an org-wide key as soon as the command has ended, in every process', async () => {
    const [doomed, kept] = await Promise.all([
      makeOrgWideKey(first, organization),
      makeOrgWideKey(first, organization),
    ]);
    const revoke = () => first.skein('key', 'revoke', organization, doomed.id);
    assertTurned(await loadAround(createRequests(doomed, false), revoke), 401, 'UNAUTHORIZED');
    assert.equal((await kept.api.list()).status, 200, 'another key of the same identity stays good');
  });

  /** Fails if a request that started after the change succeeds with an earlier token. */
  async function assertTokensEnd(app: IssuedApplication, change: () => Promise<unknown>): Promise<void> {
    const [key, unmet] = [await exchange(first.baseUrl, app), await exchange(second.baseUrl, app)];
    assertTurned(await loadAround(createRequests({ key }, false), change), 401, 'UNAUTHORIZED');
    for (const { baseUrl } of [first, second])
      assert.equal((await new Api(baseUrl, unmet).list()).status, 401);
  }

  it("rejects a rotated application's tokens and old secret as soon as the command has ended, in every process", async () => {
    const [app, kept] = await Promise.all([
      makeApplication(first, organization),
      makeApplication(first, organization),
    ]);
    const keptToken = await exchange(first.baseUrl, kept);
    let rotated = app;
    await assertTokensEnd(app, async () => {
      rotated = await first.skein('app', 'rotate', organization, app.clientId);
    });
    for (const { baseUrl } of [first, second]) {
      assert.equal((await requestToken(baseUrl, app)).status, 401, 'the old secret');
      const token = await exchange(baseUrl, rotated);
      assert.equal((await new Api(first.baseUrl, token).list()).status, 200);
      assert.equal((await new Api(second.baseUrl, token).list()).status, 200);
      assert.equal((await new Api(baseUrl, keptToken).list()).status, 200, 'another application goes on');
    }
  });

  it("rejects a deleted application's tokens and secret as soon as the command has ended, in every process", async () => {
    const app = await makeApplication(first, organization);
    await assertTokensEnd(app, () => first.skein('app', 'delete', organization, app.clientId));
    for (const { baseUrl } of [first, second]) assert.equal((await requestToken(baseUrl, app)).status, 401);
  });

  it('issues no token for an old secret after a rotation, and rejects all tokens issued before it', async () => {
    const app = await makeApplication(first, organization);
    const processes = [first, second] as const;
    const send = (place: number) => requestToken(processes[place % 2 === 0 ? 0 : 1].baseUrl, app);
    const rotate = () => first.skein('app', 'rotate', organization, app.clientId);
    const { before, after } = await loadAround(send, rotate);
    const tokens = before.flatMap(({ status, body }) =>
      status === 200 ? [body.access_token as string] : [],
    );
    assert.ok(tokens.length > 20, `${tokens.length} tokens were issued before`);
    // 429 once ten attempts have failed.
    assert.ok(after.length > 20 && after.every(({ status }) => status === 401 || status === 429));
    for (const [place, token] of tokens.entries()) {
      const { baseUrl } = processes[place % 2 === 0 ? 0 : 1];
      assert.equal((await new Api(baseUrl, token).list()).status, 401);
    }
  });

  it('keeps a revoked key revoked after a restart', async () => {
    const key = await makeOrgWideKey(first, organization);
    await first.skein('key', 'revoke', organization, key.id);
    const third = await Service.start({ folder: first.folder });
    assert.equal((await new Api(third.baseUrl, key.key).list()).status, 401);
    await third.end();
  });

  it('does not revoke credentials of another organization', async () => {
    const key = await makeOrgWideKey(first, organization);
    const { exitCode, stderr } = await runCommand(first.folder, ['key', 'revoke', other, key.id]);
    assert.equal(exitCode, 1);
    assert.match(stderr, new RegExp(key.id));
    assert.equal((await key.api.list()).status, 200);
  });

  it('revokes the keys of a removed member in that organization only', async () => {
    const ben = await makeMember(first, organization, 'ben@example.com');
    const [second, elsewhere, orgWide] = await Promise.all([
      makePersonalKey(first, organization, 'ben@example.com'),
      makeMember(first, other, 'ben@example.com'),
      makeOrgWideKey(first, organization),
    ]);
    assert.equal((await second.api.list()).status, 200);
    const leave = () => first.skein('member', 'remove', organization, 'ben@example.com');
    assertTurned(await loadAround(createRequests(ben, true), leave), 401, 'UNAUTHORIZED');
    assert.equal((await second.api.list()).status, 401);
    assert.equal((await elsewhere.api.list()).status, 200);
    assert.equal((await orgWide.api.list()).status, 200);
  });

  it('keeps what a removed member published and hides the rest, and restores both, but no key, when they rejoin', async () => {
    const [cleo, dora] = await Promise.all([
      makeMember(first, organization, 'cleo@example.com'),
      makeMember(first, organization, 'dora@example.com'),
    ]);
    const { id: shown } = (await cleo.api.create({ prompt: 'Published' })).body.thread;
    const { id: hidden } = (await cleo.api.create({ prompt: 'Not published' })).body.thread;
    await first.skein('thread', 'publish', organization, shown);
    await first.skein('member', 'remove', organization, 'cleo@example.com');
    assert.equal((await cleo.api.get(shown)).status, 401);
    assert.equal((await dora.api.get(shown)).status, 200);
    assert.equal((await dora.api.get(hidden)).status, 404);

    const returned = await makeMember(first, organization, 'cleo@example.com');
    assert.equal((await cleo.api.get(shown)).status, 401, 'coming back does not revive a key');
    assert.equal((await returned.api.get(hidden)).status, 200);
    assert.equal((await returned.api.rename(shown, 'Mine again')).status, 200);
  });

  it('returns 404 as soon as the public API is disabled, and admits requests again as soon as it is enabled', async () => {
    const eve = await makeMember(first, leaving, 'eve@example.com');
    const set = (api: string) => () => first.skein('org', 'set', leaving, '--api', api);
    assertTurned(await loadAround(createRequests(eve, true), set('off')), 404, 'NOT_FOUND');

    const refused = await runCommand(first.folder, ['key', 'create', leaving, '--org-wide']);
    assert.equal(refused.exitCode, 1, 'no credential is issued without the public API');
    assert.equal(refused.stdout, '');

    const { after } = await loadAround((place) => createRequests(eve, false)(3 * place + 2), set('on'));
    assert.deepEqual(listStatuses(after), [200]);
  });
});

/** Fails unless requests succeed before the change and are rejected after it. */
function assertTurned({ before, after }: LoadAround, status: number, code: string): void {
  const good = before.filter((answer) => answer.status < 300).length;
  assert.ok(good > 20, `${good} requests succeeded before`);
  assert.ok(after.length > 20, `${after.length} requests were sent after`);
  assert.deepEqual(listStatuses(after), [status]);
  assert.ok(after.every(({ body }) => body.error.code === code));
}

function listStatuses(answers: readonly ApiResponse[]): number[] {
  return [...new Set(answers.map(({ status }) => status))];
}
