import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { Api } from '../../harness/http/api.ts';
import { runCommand, type Service } from '../../harness/service/service.ts';
import { sharedService } from '../../harness/service/shared-service.ts';
import { exchange, requestToken } from '../../harness/world/applications.ts';
import { assertRefused } from './refused-command.ts';

const id = (prefix: string) => new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`);
const secretPattern = /^eas_[0-9A-Za-z]{36}$/;
const keyPattern = /^eak_[0-9A-Za-z]{36}$/;

interface CreatedOrganization {
  readonly org: string;
  readonly keyId: string;
  readonly key: string;
  readonly api: Api;
}

describe("The operator's commands, with a running service", { concurrency: 3 }, () => {
  let service: Service;
  let folder: string;
  /** For tests that only add to it. */
  let acme: CreatedOrganization;
  let stranger: { id: string };
  before(async () => {
    service = await sharedService();
    folder = service.folder;
    [acme, stranger] = await Promise.all([createOrganization('Acme'), json('org', 'create', 'Stranger')]);
  });

  const run = (...words: string[]) => runCommand(folder, words);
  const json = (...words: string[]) => service.skein(...words);
  const text = async (...words: string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await run(...words);
    assert.equal(exitCode, 0, stderr);
    assert.equal(stderr, '');
    return stdout;
  };
  /** A new organization with one member and their key, for tests that change or remove what they find. */
  async function createOrganization(name: string): Promise<CreatedOrganization> {
    const org = (await json('org', 'create', name)).id;
    await json('member', 'add', org, 'ada@example.com');
    const made = await json('key', 'create', org, '--user', 'ada@example.com');
    return { org, keyId: made.id, key: made.key, api: new Api(service.baseUrl, made.key) };
  }

  it('org create creates an organization and prints only its id', async () => {
    const made = await json('org', 'create', 'Shapes', '--quota', '7', '--api', 'off');
    assert.deepEqual(Object.keys(made), ['id']);
    assert.match(made.id, id('org'));
    const listed = (await json('org', 'list')).find((org: { id: string }) => org.id === made.id);
    assert.deepEqual(listed, {
      id: made.id,
      name: 'Shapes',
      apiEnabled: false,
      dailyQuota: 7,
      createdAt: listed.createdAt,
    });
    assert.ok(Math.abs(Date.now() - Date.parse(listed.createdAt)) < 60_000);
    assert.match(
      await text('org', 'create', 'For people'),
      /^Created the organization For people: org_\w+\n$/,
    );
    assert.match(await text('org', 'list'), /org_\w+ +Shapes +API disabled +7 requests a day\n/);
  });

  it('org set disables and enables the public API, at once', async () => {
    const { org, api } = await createOrganization('In and out');
    assert.equal((await api.list()).status, 200);
    assert.deepEqual(await json('org', 'set', org, '--api', 'off'), { id: org });
    assert.equal((await api.list()).status, 404);
    assertRefused(await run('key', 'create', org, '--org-wide'), /skein org set .* --api on/);
    await text('org', 'set', org, '--api', 'on');
    assert.equal((await api.list()).status, 200);
  });

  it('org set changes the quota, at once', async () => {
    const { org, api } = await createOrganization('Metered');
    assert.equal((await api.list()).status, 200);
    await json('org', 'set', org, '--quota', '1');
    assert.equal((await api.list()).status, 429);
    await json('org', 'set', org, '--quota', '1000');
    assert.equal((await api.list()).status, 200);
  });

  it('member add and list show who belongs, in which role', async () => {
    const { org } = await createOrganization('Members');
    const made = await json('member', 'add', org, 'Bot@Example.com', '--role', 'admin', '--service');
    assert.deepEqual(made, { id: made.id, invitation: null });
    const members = await json('member', 'list', org);
    assert.deepEqual(
      members.map(({ joinedAt, invitedUntil, ...rest }: any) => ({
        ...rest,
        invited: invitedUntil !== null,
      })),
      [
        {
          id: members[0].id,
          email: 'ada@example.com',
          role: 'member',
          service: false,
          opened: false,
          invited: true,
        },
        {
          id: made.id,
          email: 'bot@example.com',
          role: 'admin',
          service: true,
          opened: false,
          invited: false,
        },
      ],
    );
    for (const member of members) assert.match(member.id, id('usr'));
    assert.match(await text('member', 'list', org), /usr_\w+ +bot@example\.com +admin, service\n$/);
    assertRefused(await run('member', 'add', org, 'ada@example.com'), /already/);
    assertRefused(await run('member', 'add', org, 'not an address'), /address/);
    assertRefused(await run('member', 'add', org, 'x@example.com', '--role', 'king'), /admin, member/);
  });

  it('member remove revokes their keys at once, and for good', async () => {
    const { org, api } = await createOrganization('Leaving');
    assert.equal((await api.list()).status, 200);
    assert.match(await text('member', 'remove', org, 'ADA@example.com'), /revoked 1 personal key\.\n$/);
    assert.equal((await api.list()).status, 401);
    const back = await json('member', 'add', org, 'ada@example.com');
    assert.match(back.id, id('usr'));
    assert.equal((await api.list()).status, 401);
    assertRefused(await run('member', 'remove', org, 'nobody@example.com'), /skein member list org_/);
    assert.deepEqual(await json('member', 'remove', org, 'ada@example.com'), { id: back.id });
  });

  it('key create shows a key once, and it works at once', async () => {
    const { org } = acme;
    const wide = await json('key', 'create', org, '--org-wide', '--name', 'Dashboards');
    assert.deepEqual(Object.keys(wide).sort(), ['id', 'key']);
    assert.match(wide.id, id('key'));
    assert.match(wide.key, keyPattern);
    assert.equal((await new Api(service.baseUrl, wide.key).list()).status, 200);
    assert.equal((await new Api(service.baseUrl, wide.key).create({ prompt: 'x' })).status, 403);
    const shown = await text('key', 'create', org, '--user', 'ada@example.com');
    assert.match(shown.split('\n')[0] as string, keyPattern);
    const listed = await run('key', 'list', org, '--json');
    assert.ok(!listed.stdout.includes(wide.key));
    const { lastUsedAt, ...row } = JSON.parse(listed.stdout).find((key: any) => key.id === wide.id);
    assert.ok(lastUsedAt === null || Math.abs(Date.now() - Date.parse(lastUsedAt)) < 60_000);
    const hint = `${wide.key.slice(0, 8)}…${wide.key.slice(-4)}`;
    assert.deepEqual(row, {
      id: wide.id,
      name: 'Dashboards',
      userId: null,
      hint,
      createdBy: null,
      createdAt: row.createdAt,
      revokedAt: null,
    });
    const line = (await text('key', 'list', org)).split('\n').find((one) => one.includes(hint));
    assert.match(line as string, /org-wide +operator +(never|2\S+Z) +active +Dashboards$/);
  });

  it('key revoke takes effect with the next request', async () => {
    const { org, keyId, api } = await createOrganization('Revoked');
    assert.equal((await api.list()).status, 200);
    assert.deepEqual(await json('key', 'revoke', org, keyId), { id: keyId });
    assert.equal((await api.list()).status, 401);
    assert.match(await text('key', 'list', org), /revoked/);
  });

  it('key create requires an owner, and rejects non-members', async () => {
    const { org, keyId } = acme;
    assertRefused(await run('key', 'create', org), /--user EMAIL or --org-wide/);
    assertRefused(await run('key', 'create', org, '--user', 'ada@example.com', '--org-wide'), /either/);
    assertRefused(await run('key', 'create', org, '--user', 'eve@example.com'), /skein member list org_/);
    assertRefused(await run('key', 'revoke', org, 'key_nonsense'), /skein key list/);
    assertRefused(await run('key', 'revoke', stranger.id, keyId), /skein key list/);
  });

  it('usage shows the quota and the requests, and audit shows who ran which command', async () => {
    const { org, keyId, api } = await createOrganization('Watched');
    assert.match(
      await text('usage', org),
      /^0 of 10,000 requests used today; resets at 2\S+T00:00:00\.000Z\n\nNo requests in 30 days\.\n$/,
    );
    await api.list();
    for (let counts = 0; counts === 0; ) counts = (await json('usage', org, '--days', '1')).requests.length;
    assert.match(await text('usage', org), new RegExp(`${keyId} .* listThreads +OK +1\\n$`));
    const events = await json('audit', org);
    assert.deepEqual(
      events.map(({ action, actor }: any) => [action, actor.kind]),
      ['key.created', 'member.invited', 'member.added', 'organization.created'].map((one) => [
        one,
        'operator',
      ]),
    );
    assert.deepEqual(await json('audit', org, '--trace', events[0].traceId), [events[0]]);
    assert.deepEqual(await json('audit', org, '--limit', '1'), [events[0]]);
    assert.match(await text('audit', org), new RegExp(`^2\\S+Z +Operator +key\\.created +${keyId} `));
    assert.match(await text('audit', org, '--trace', 'nobody'), /^No matching entries/);
    for (const words of [
      ['audit', org, '--limit', '0'],
      ['usage', org, '--days', '367'],
    ]) {
      assertRefused(await run(...words), /integer from 1 to/);
    }
  });

  it('app create shows a secret once, and it works at once', async () => {
    const { org } = await createOrganization('Applied');
    assert.match(await text('app', 'list', org), /skein app create/);
    assert.deepEqual(await json('app', 'list', org), []);
    const made = await json('app', 'create', org, '--name', 'Dashboards');
    assert.deepEqual(Object.keys(made), ['id', 'clientId', 'clientSecret']);
    assert.match(made.id, id('app'));
    assert.equal(made.clientId, made.id);
    assert.match(made.clientSecret, secretPattern);
    const token = await exchange(service.baseUrl, made);
    assert.equal((await new Api(service.baseUrl, token).list()).status, 200);
    const [{ lastUsedAt, ...listed }, ...others] = await json('app', 'list', org);
    assert.ok(lastUsedAt === null || Math.abs(Date.now() - Date.parse(lastUsedAt)) < 60_000);
    assert.deepEqual(others, []);
    const { createdAt } = listed;
    assert.deepEqual(listed, {
      id: made.id,
      name: 'Dashboards',
      createdAt,
      rotatedAt: null,
      clientId: made.id,
    });
    assert.ok(Math.abs(Date.now() - Date.parse(createdAt)) < 60_000);
    assert.match(await text('app', 'list', org), /^app_\w+ +Dashboards +never rotated\n$/);
    const shown = await text('app', 'create', org, '--name', 'For people');
    assert.match(shown, /^client ID +app_\w+\nclient secret +eas_\w+\n\n.*not shown again/);
  });

  it('app rotate and app delete take effect with the next request', async () => {
    const { org } = await createOrganization('Rotated');
    const made = await json('app', 'create', org, '--name', 'Robot');
    const api = new Api(service.baseUrl, await exchange(service.baseUrl, made));
    assert.equal((await api.list()).status, 200);
    const rotated = await json('app', 'rotate', org, made.clientId);
    assert.deepEqual(Object.keys(rotated), ['id', 'clientId', 'clientSecret']);
    assert.deepEqual([rotated.id, rotated.clientId], [made.id, made.id]);
    assert.match(rotated.clientSecret, secretPattern);
    assert.notEqual(rotated.clientSecret, made.clientSecret);
    assert.equal((await api.list()).status, 401);
    assert.equal((await requestToken(service.baseUrl, made)).status, 401);
    const again = new Api(service.baseUrl, await exchange(service.baseUrl, rotated));
    assert.equal((await again.list()).status, 200);
    assert.match(await text('app', 'list', org), /rotated \d{4}-\d\d-\d\dT/);
    assert.deepEqual(await json('app', 'delete', org, made.id), { id: made.id });
    assert.equal((await again.list()).status, 401);
    assert.equal((await requestToken(service.baseUrl, rotated)).status, 401);
    assert.deepEqual(await json('app', 'list', org), []);
    for (const verb of ['rotate', 'delete'])
      assertRefused(await run('app', verb, org, made.id), /skein app list org_/);
  });

  it('app commands reject missing names, unknown ids, and organizations without the public API', async () => {
    const { org } = await createOrganization('Refusing');
    const made = await json('app', 'create', org, '--name', 'Robot');
    const token = await exchange(service.baseUrl, made);
    assertRefused(await run('app', 'create', org), /--name <NAME>/);
    assertRefused(await run('app', 'create', org, '--name', ''), /name/);
    assertRefused(await run('app', 'create', org, '--name', 'x'.repeat(256)), /name/);
    for (const words of [
      ['create', 'Nobody', '--name', 'x'],
      ['list', 'Nobody'],
      ['rotate', 'Nobody', made.id],
    ]) {
      assertRefused(await run('app', ...words), /skein org list/);
    }
    for (const verb of ['rotate', 'delete']) {
      assertRefused(await run('app', verb, stranger.id, made.id), /skein app list org_/);
      assertRefused(await run('app', verb, org, 'app_nonsense'), /skein app list org_/);
    }
    assert.equal((await new Api(service.baseUrl, token).list()).status, 200, 'no refusal touched it');
    await json('org', 'set', org, '--api', 'off');
    assertRefused(await run('app', 'create', org, '--name', 'Late'), /skein org set .* --api on/);
    assertRefused(await run('app', 'rotate', org, made.id), /skein org set .* --api on/);
    assert.deepEqual(await json('app', 'delete', org, made.id), { id: made.id });
  });

  it('thread publish and unpublish show a thread to colleagues and hide it again, at once', async () => {
    const { org, api } = acme;
    const wide = new Api(service.baseUrl, (await json('key', 'create', org, '--org-wide')).key);
    const { body } = await api.create({ prompt: 'For all?' });
    const threadId = body.thread.id;
    assert.equal((await wide.get(threadId)).status, 404);
    assert.deepEqual(await json('thread', 'publish', org, threadId), { id: threadId, published: true });
    assert.equal((await wide.get(threadId)).body.thread.published, true);
    assert.match(await text('thread', 'unpublish', org, threadId), /no longer published/);
    assert.equal((await wide.get(threadId)).status, 404);
    for (const wrong of [threadId, 'thr_nonsense', 'x'])
      assertRefused(await run('thread', 'publish', stranger.id, wrong), /check the id/);
    await api.delete(threadId);
    assertRefused(await run('thread', 'publish', org, threadId), /check the id/);
  });

  it('doctor reports every check of a running service as healthy', async () => {
    const { healthy, findings } = await json('doctor');
    assert.equal(healthy, true);
    for (const finding of findings) {
      assert.deepEqual(Object.keys(finding).sort(), ['check', 'detail', 'ok']);
      assert.equal(finding.ok, true);
    }
    const checks = findings.map(({ check }: { check: string }) => check);
    for (const check of ['node', 'disk', 'sync', 'tls', 'store', 'integrity', 'clock'])
      assert.ok(checks.includes(check), check);
    assert.match(await text('doctor'), /^ok {4}node {2,}/);
  });

  it('an organization can be given by name, unless two have the same name', async () => {
    await json('org', 'create', 'Twins');
    assert.deepEqual(await json('member', 'list', 'Twins'), []);
    assert.match(await text('member', 'list', 'Twins'), /skein member add/);
    const again = await run('org', 'create', 'Twins', '--json');
    assert.equal(again.exitCode, 0);
    assert.match(
      again.stderr,
      /^Another organization is also called Twins: use ids in commands, not the name\.\n$/,
    );
    assert.match(JSON.parse(again.stdout).id, id('org'));
    assertRefused(await run('member', 'list', 'Twins'), /2 organizations are called Twins: use an id/);
    assertRefused(await run('member', 'list', 'Nobody'), /skein org list/);
  });
});

describe('skein signing-key rotate', () => {
  let service: Service;
  before(async () => {
    service = await sharedService();
  });

  it('prints the new key, which signs at once, and invalidates older tokens only with --forget', async () => {
    const { id: org } = await service.skein('org', 'create', 'Keys');
    const made = await service.skein('app', 'create', org, '--name', 'Robot');
    const api = new Api(service.baseUrl, await exchange(service.baseUrl, made));
    const kept = await service.skein('signing-key', 'rotate');
    assert.deepEqual(kept, { id: kept.id, forget: false });
    assert.match(kept.id, /^[\w-]{43}$/);
    assert.equal((await api.list()).status, 200);
    const forgotten = await service.skein('signing-key', 'rotate', '--forget');
    assert.deepEqual(forgotten, { id: forgotten.id, forget: true });
    assert.notEqual(forgotten.id, kept.id);
    assert.equal((await api.list()).status, 401);
    const { stdout } = await runCommand(service.folder, ['signing-key', 'rotate']);
    assert.match(stdout, /^Signing with [\w-]{43} from now on\. .*until they expire\.\n$/);
    const listed = await service.skein('audit', org);
    const rotations = listed.filter(({ action }: any) => action === 'signing-key.rotated');
    assert.deepEqual(
      rotations.map(({ subject, detail }: any) => [subject, detail]),
      [
        [/^Signing with (\S+)/.exec(stdout)?.[1], { forget: false }],
        [forgotten.id, { forget: true }],
        [kept.id, { forget: false }],
      ],
    );
  });
});
