import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
  ConsoleClient,
  parseToken,
  signedInAgain,
  testPassword,
} from '../../../harness/console/console-client.ts';
import { type SettingsWorld, sharedSettingsWorld, signUp } from '../../../harness/console/settings-world.ts';
import { assertDone, assertRefused, Visitor } from '../../../harness/console/visitor.ts';
import { Api } from '../../../harness/http/api.ts';
import { runCommand } from '../../../harness/service/service.ts';
import { describeOnEachEngine } from '../../../harness/world/engines.ts';

describeOnEachEngine('Members in the console', (engine) => {
  let world: SettingsWorld;
  before(async () => {
    world = await sharedSettingsWorld(await engine.sharedStore());
  });

  async function listed(id: string) {
    return assertDone(await world.ada.get('/members')).members.find((member: any) => member.id === id);
  }

  async function invite(email: string, role = 'member') {
    return assertDone(await world.ada.post('/members', { email, role, service: false }), 201);
  }

  describe('accepts', () => {
    it('a person, who is invited until they open their link, and can then sign in', async () => {
      const { id, link, expiresAt } = await invite(world.email('Carol').replace('world', 'World'), 'admin');
      assert.ok(link.startsWith(`${world.service.baseUrl}/invitation#`));
      const { joinedAt, invitedUntil, ...shown } = await listed(id);
      assert.ok(Date.parse(joinedAt) > 0);
      assert.ok(Math.abs(Date.parse(invitedUntil) - Date.parse(expiresAt)) < 60_000);
      const carol = { id, email: world.email('carol'), role: 'admin', service: false, keys: [] };
      assert.deepEqual(shown, { ...carol, state: 'invited', mailState: null });
      const visitor = await Visitor.accept(world.acme, link);
      assert.equal((await listed(id)).state, 'active');
      assertDone(await visitor.get('/members'));
    });

    it('a new link, which replaces the old one', async () => {
      const { id, link } = await invite(world.email('dora'));
      const again = assertDone(await world.ada.post(`/members/${id}/invitation`), 201);
      assert.notEqual(again.link, link);
      await assert.rejects(Visitor.accept(world.acme, link));
      await Visitor.accept(world.acme, again.link);
    });

    it('a service account, which has no link', async () => {
      const body = { email: world.email('bot'), role: 'member', service: true };
      const { id, link, expiresAt } = assertDone(await world.ada.post('/members', body), 201);
      assert.deepEqual({ link, expiresAt }, { link: null, expiresAt: null });
      const { state, service } = await listed(id);
      assert.deepEqual({ state, service }, { state: 'active', service: true });
      assertRefused(await world.ada.post(`/members/${id}/invitation`), 400, /service account/);
    });

    it("a change of role, which applies to the member's next request", async () => {
      const { service, acme, ada } = world;
      const finn = await signUp(service, acme, world.email('finn'), 'member');
      assertRefused(await finn.get('/members'), 403);
      assert.deepEqual(assertDone(await ada.patch(`/members/${finn.userId}`, { role: 'admin' })), {});
      assertDone(await finn.get('/members'));
      assertDone(await ada.patch(`/members/${finn.userId}`, { role: 'member' }));
      assertRefused(await finn.get('/members'), 403);
    });

    it('removing a member, which revokes their keys for good', async () => {
      const { service, acme, ada } = world;
      const gina = await signUp(service, acme, world.email('gina'), 'member');
      const { id, key } = await service.skein('key', 'create', acme, '--user', world.email('gina'));
      const api = new Api(service.baseUrl, key);
      assert.equal((await api.list()).status, 200);
      assert.deepEqual(
        (await listed(gina.userId)).keys.map((one: any) => one.id),
        [id],
      );
      assertDone(await ada.delete(`/members/${gina.userId}`));
      assert.equal((await api.list()).status, 401);
      assertRefused(await gina.get('/keys'), 404);
      assert.equal(await listed(gina.userId), undefined);
      const { keys } = assertDone(await ada.get('/keys'));
      const { owner, revokedAt } = keys.find((one: any) => one.id === id);
      assert.ok(revokedAt !== null && owner !== null);
      const back = await signUp(service, acme, world.email('gina'), 'member');
      assert.equal(back.userId, gina.userId);
      assert.equal((await api.list()).status, 401, 'rejoining does not restore the key');
    });
  });

  describe('rejects', () => {
    it('an invalid member', async () => {
      const good = { email: world.email('x'), role: 'member', service: false };
      for (const wrong of [{ email: 'nobody' }, { email: '' }, { role: 'owner' }, { service: 'yes' }]) {
        assertRefused(await world.ada.post('/members', { ...good, ...wrong }), 400);
      }
      assertRefused(await world.ada.post('/members', { ...good, email: world.email('BEN') }), 400, /already/);
      assertRefused(await world.ada.patch(`/members/${world.ben.userId}`, { role: 'owner' }), 400);
    });

    it('removing or demoting the last admin', async () => {
      const { service, globex, eve } = world;
      await service.skein('member', 'add', globex, world.email('machine'), '--service', '--role', 'admin');
      assertRefused(await eve.patch(`/members/${eve.userId}`, { role: 'member' }), 400, /another member/);
      assertRefused(await eve.delete(`/members/${eve.userId}`), 400, /another member/);
      assertDone(await eve.get('/members'));
    });

    it('turning a person with threads into a service account, whose key would read them', async () => {
      const { service, acme, ada } = world;
      const hugo = await signUp(service, acme, world.email('hugo'), 'member');
      const { key } = await service.skein('key', 'create', acme, '--user', world.email('hugo'));
      assert.equal((await new Api(service.baseUrl, key).create({ prompt: 'Between us' })).status, 201);
      const asService = { email: world.email('hugo'), role: 'member', service: true };
      assertRefused(await ada.post('/members', asService), 400, /already/);
      assertDone(await ada.delete(`/members/${hugo.userId}`));
      assertRefused(await ada.post('/members', asService), 400, /has threads here/);
      assertDone(await ada.post('/members', { ...asService, service: false }), 201);
    });

    it('members who do not exist', async () => {
      const { ada, eve } = world;
      for (const id of ['usr_nonsense', eve.userId]) {
        assertRefused(await ada.patch(`/members/${id}`, { role: 'member' }), 404);
        assertRefused(await ada.delete(`/members/${id}`), 404);
        assertRefused(await ada.post(`/members/${id}/invitation`), 404);
      }
    });
  });

  describe('protects', () => {
    it('people who have joined from links that would let an admin sign in as them', async () => {
      const { service, acme, globex, ada, eve } = world;
      const iris = await signUp(service, acme, world.email('iris'), 'member');
      const { invitation } = await service.skein('member', 'add', globex, world.email('iris'));
      assertDone(await new ConsoleClient(service.baseUrl).acceptInvitation(invitation, testPassword));
      const stranger = new ConsoleClient(service.baseUrl);
      for (const admin of [ada, eve]) {
        assertRefused(await admin.post(`/members/${iris.userId}/invitation`), 400, /has already joined/);
      }
      assertDone(await iris.get('/keys'));
      assertDone(await stranger.signIn(world.email('iris'), testPassword));
      // The operator may, and the audit log records it in the organization it affects.
      const words = ['member', 'invite', globex, world.email('iris'), '--json'];
      const { stdout, stderr } = await runCommand(service.folder, words, service.store);
      const reset = JSON.parse(stdout);
      assert.ok(stderr.includes(`they also lose access to Acme (${acme}, member). Afterwards,`), stderr);
      const read = assertDone(
        await stranger.post('/invitation/read', { token: parseToken(reset.invitation) }),
      );
      assert.deepEqual([read.endsMemberships, read.endsKeys], [1, false]);
      assert.ok(!JSON.stringify(read).includes('Acme'), 'the holder may be somebody else');
      assertDone(await stranger.acceptInvitation(reset.invitation, 'a password of Iris'));
      assert.notEqual((await listed(iris.userId)).state, 'active');
      const { events } = assertDone(await ada.get('/audit'));
      const { action, subject } = events[0];
      assert.deepEqual({ action, subject }, { action: 'password.voided', subject: iris.userId });
    });

    it('unpublished threads from an admin who removes their author and adds them again', async () => {
      const { service, acme, ada } = world;
      const { id, link } = await invite(world.email('kim'));
      const kim = await Visitor.accept(acme, link);
      const { thread } = assertDone(await kim.post('/threads', { prompt: 'Between us' }), 201);
      assertRefused(await ada.get(`/threads/${thread.id}`), 404);
      assertDone(await ada.delete(`/members/${id}`));
      const again = { email: world.email('kim'), role: 'member', service: false };
      assertRefused(await ada.post('/members', again), 400, /threads here .*\. Ask the operator/);
      assert.equal(await listed(id), undefined);

      const { id: sameId } = await service.skein('member', 'add', acme, world.email('kim'));
      assert.equal(sameId, id);
      assertRefused(await ada.post(`/members/${id}/invitation`), 400, /Ask the operator/);
      const back = new Visitor(await signedInAgain(service, acme, world.email('kim')), acme);
      assertDone(await back.get(`/threads/${thread.id}`));
    });

    it('unpublished threads of a member who only has an API key, used or not', async () => {
      const { service, acme, ada } = world;
      const { id, link } = await invite(world.email('lea'));
      const { key } = await service.skein('key', 'create', acme, '--user', world.email('lea'));
      assertRefused(
        await new ConsoleClient(service.baseUrl).acceptInvitation(link, testPassword),
        400,
        /key/,
      );
      const made = await new Api(service.baseUrl, key).create({ prompt: 'Between us' });
      assert.equal(made.status, 201);
      assertRefused(await ada.get(`/threads/${made.body.thread.id}`), 404);
      // Neither with the link that the admin has, nor with a new one.
      const stranger = new ConsoleClient(service.baseUrl);
      const { body } = await stranger.post('/invitation/read', { token: parseToken(link) });
      assert.equal(body.password, 'operator');
      assertRefused(await stranger.acceptInvitation(link, testPassword), 400, /Ask the operator/);
      assertRefused(await ada.post(`/members/${id}/invitation`), 400, /Ask the operator/);

      const lea = new Visitor(await signedInAgain(service, acme, world.email('lea')), acme);
      assertDone(await lea.get(`/threads/${made.body.thread.id}`));
    });

    it('a person of one organization from a password that is chosen in another', async () => {
      const { service, acme, eve } = world;
      await signUp(service, acme, world.email('jack'), 'member');
      const body = { email: world.email('jack'), role: 'member', service: false };
      const { link } = assertDone(await eve.post('/members', body), 201);
      const stranger = new ConsoleClient(service.baseUrl);
      assertRefused(
        await stranger.acceptInvitation(link, 'a password of Eve'),
        400,
        /^The password is wrong/,
      );
      assertDone(await stranger.signIn(world.email('jack'), testPassword));
    });

    it('the member list from non-admins and from other organizations', async () => {
      const { ada, ben, eve, acme } = world;
      const body = { email: world.email('x'), role: 'admin', service: false };
      assertRefused(await ben.get('/members'), 403);
      assertRefused(await ben.post('/members', body), 403);
      assertRefused(await ben.patch(`/members/${ben.userId}`, { role: 'admin' }), 403);
      assertRefused(await ben.delete(`/members/${ada.userId}`), 403);
      assertRefused(await eve.intrude(acme, 'GET', '/members'), 404);
      assertRefused(await eve.intrude(acme, 'POST', '/members', { body }), 404);
      assertRefused(await eve.intrude(acme, 'DELETE', `/members/${ben.userId}`), 404);
      assert.equal((await listed(ben.userId)).role, 'member');
    });
  });
});
