import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertRefused } from '../../harness/console/assertions.ts';
import {
  ConsoleClient,
  parseToken,
  signedInMember,
  testPassword,
} from '../../harness/console/console-client.ts';
import { freePort } from '../../harness/service/machine.ts';
import type { Service } from '../../harness/service/service.ts';
import { startWithoutDemo } from '../../harness/service/shared-service.ts';
import { describeOnEachEngine } from '../../harness/world/engines.ts';

const cookiePattern = /^skein=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/;

describeOnEachEngine('Signing in', ({ freshStore }) => {
  let service: Service;
  let acme: string;
  before(async () => {
    service = await startWithoutDemo(await freshStore());
    acme = (await service.skein('org', 'create', 'Acme')).id;
  });
  after(() => service?.end());

  const nobody = () => new ConsoleClient(service.baseUrl);
  let people = 0;
  const newAddress = () => {
    people += 1;
    return `person-${people}@acme.example`;
  };

  describe('by invitation', () => {
    it('shows whom it is for, accepts their new password, and signs them in', async () => {
      const email = newAddress();
      const { id, invitation } = await service.skein('member', 'add', acme, email, '--role', 'admin');
      const client = nobody();
      const read = await client.post('/invitation/read', { token: parseToken(invitation) });
      assert.deepEqual(read.body, {
        email,
        organization: 'Acme',
        resets: false,
        endsKeys: false,
        endsMemberships: 0,
        password: 'choose',
      });
      const accepted = await client.acceptInvitation(invitation, testPassword);
      assert.equal(accepted.status, 200);
      assert.deepEqual(accepted.body.user, { id, email });
      assert.equal(accepted.body.proof, 'password');
      assert.deepEqual(accepted.body.organizations, [
        { id: acme, name: 'Acme', role: 'admin', apiEnabled: true },
      ]);
      assert.match(accepted.headers.getSetCookie()[0] ?? '', cookiePattern);
      assert.deepEqual((await client.get('/session')).body, accepted.body);
    });

    it('works once', async () => {
      const { invitation } = await service.skein('member', 'add', acme, newAddress());
      assert.equal((await nobody().acceptInvitation(invitation, testPassword)).status, 200);
      assertRefused(await nobody().acceptInvitation(invitation, testPassword), 'NOT_FOUND');
      assertRefused(await nobody().post('/invitation/read', { token: parseToken(invitation) }), 'NOT_FOUND');
    });

    it('rejects a weak password, and can still be used afterwards', async () => {
      const email = newAddress();
      const { invitation } = await service.skein('member', 'add', acme, email);
      for (const password of ['short', 'password123', email, 'x'.repeat(300)])
        assertRefused(await nobody().acceptInvitation(invitation, password), 'INVALID_PARAMS', password);
      assert.equal((await nobody().acceptInvitation(invitation, testPassword)).status, 200);
    });

    it('is invalid once a newer one exists, and for a member who was removed', async () => {
      const email = newAddress();
      const { invitation: first } = await service.skein('member', 'add', acme, email);
      const { invitation: second } = await service.skein('member', 'invite', acme, email);
      assertRefused(await nobody().acceptInvitation(first, testPassword), 'NOT_FOUND');
      await service.skein('member', 'remove', acme, email);
      assertRefused(await nobody().acceptInvitation(second, testPassword), 'NOT_FOUND');
    });

    it('from the operator lets a person choose a new password, and ends their sessions', async () => {
      const email = newAddress();
      const client = await signedInMember(service, acme, email);
      const { invitation } = await service.skein('member', 'invite', acme, email);
      const fresh = nobody();
      assert.equal((await fresh.acceptInvitation(invitation, 'another good one')).status, 200);
      assertRefused(await client.get('/session'), 'UNAUTHORIZED');
      assertRefused(await nobody().signIn(email, testPassword), 'UNAUTHORIZED');
      assert.equal((await nobody().signIn(email, 'another good one')).status, 200);
    });

    it('from the operator resets a password only after the person joined, or if they could not sign in anymore', async () => {
      const email = newAddress();
      const resets = async (link: string) =>
        (await nobody().post('/invitation/read', { token: parseToken(link) })).body.resets;
      await service.skein('member', 'add', acme, email);
      const { invitation } = await service.skein('member', 'invite', acme, email);
      assert.equal(await resets(invitation), false);
      assert.equal((await nobody().acceptInvitation(invitation, testPassword)).status, 200);
      assert.equal(await resets((await service.skein('member', 'invite', acme, email)).invitation), true);
      await service.skein('member', 'remove', acme, email);
      assert.equal(await resets((await service.skein('member', 'add', acme, email)).invitation), false);
      assert.equal(await resets((await service.skein('member', 'invite', acme, email)).invitation), true);
    });

    it('asks a person who already has a password for it', async () => {
      const email = newAddress();
      const client = await signedInMember(service, acme, email);
      const globex = (await service.skein('org', 'create', `Globex of ${email}`)).id;
      const { invitation } = await service.skein('member', 'add', globex, email);
      // Until it is accepted, the new organization is closed to the password of the old one.
      assert.deepEqual(
        (await client.get('/session')).body.organizations.map(({ id }: { id: string }) => id),
        [acme],
      );
      const read = await nobody().post('/invitation/read', { token: parseToken(invitation) });
      assert.equal(read.body.password, 'prove');
      assertRefused(await nobody().acceptInvitation(invitation, 'not my password'), 'INVALID_PARAMS');
      const accepted = await nobody().acceptInvitation(invitation, testPassword);
      const names = accepted.body.organizations.map(({ id }: { id: string }) => id);
      assert.deepEqual(names, [acme, globex], 'and lets them switch');
    });
  });

  describe('by password', () => {
    it('sets a cookie that scripts cannot read and other sites cannot use', async () => {
      const email = newAddress();
      await signedInMember(service, acme, email);
      const client = nobody();
      const answer = await client.signIn(` ${email.toUpperCase()} `, testPassword);
      assert.equal(answer.status, 200);
      assert.equal(answer.body.user.email, email);
      assert.match(answer.headers.getSetCookie()[0] ?? '', cookiePattern);
      assert.equal(answer.headers.get('www-authenticate'), null);
      assert.ok(!JSON.stringify(answer.body).includes(client.cookies.get('skein') as string));
    });

    it('gives the same response for a wrong password, an unknown address, and accounts that cannot sign in', async () => {
      const email = newAddress();
      await signedInMember(service, acme, email);
      const invited = newAddress();
      await service.skein('member', 'add', acme, invited);
      await service.skein('member', 'add', acme, 'robot@acme.example', '--service');
      const left = newAddress();
      await signedInMember(service, acme, left);
      await service.skein('member', 'remove', acme, left);
      const attempts: [string, string][] = [
        [email, 'not my password'],
        ['stranger@acme.example', testPassword],
        [invited, testPassword],
        ['robot@acme.example', testPassword],
        [left, testPassword],
        ['not an address', testPassword],
      ];
      for (const [address, password] of attempts) {
        const answer = await nobody().signIn(address, password);
        assertRefused(answer, 'UNAUTHORIZED', address);
        assert.equal(answer.body.error.message, 'Wrong email or password.', address);
        assert.deepEqual(answer.headers.getSetCookie(), []);
        assert.equal(answer.headers.get('www-authenticate'), null);
      }
    });

    it('gives a new session each time, and ends the one that the browser had', async () => {
      const email = newAddress();
      const client = await signedInMember(service, acme, email);
      const before = client.cookies.get('skein') as string;
      assert.equal((await client.signIn(email, testPassword)).status, 200);
      assert.notEqual(client.cookies.get('skein'), before);
      const stale = nobody();
      stale.cookies.set('skein', before);
      assertRefused(await stale.get('/session'), 'UNAUTHORIZED');
      assert.equal((await client.get('/session')).status, 200);
    });
  });

  describe('ends', () => {
    it('when the person signs out, in this browser only', async () => {
      const email = newAddress();
      const one = await signedInMember(service, acme, email);
      const other = nobody();
      await other.signIn(email, testPassword);
      const token = one.cookies.get('skein') as string;
      const answer = await one.post('/sign-out');
      assert.deepEqual([answer.status, answer.body], [200, {}]);
      assert.deepEqual([...one.cookies.keys()], ['skein-device'], 'the session is taken back');
      one.cookies.set('skein', token);
      assertRefused(await one.get('/session'), 'UNAUTHORIZED');
      assert.equal((await other.get('/session')).status, 200);
    });

    it('in all browsers when they sign out everywhere', async () => {
      const email = newAddress();
      const one = await signedInMember(service, acme, email);
      const other = nobody();
      await other.signIn(email, testPassword);
      assert.equal((await one.post('/sign-out-everywhere')).status, 200);
      for (const client of [one, other]) assertRefused(await client.get('/session'), 'UNAUTHORIZED');
    });

    it('in other browsers when they change their password', async () => {
      const email = newAddress();
      const one = await signedInMember(service, acme, email);
      const other = nobody();
      await other.signIn(email, testPassword);
      const change = (current: string, next: string) => one.post('/password', { current, next });
      const wrong = await change('not my password', 'another good one');
      assertRefused(wrong, 'INVALID_PARAMS');
      assert.equal(wrong.body.error.message, 'The current password is wrong.');
      const short = await change(testPassword, 'short');
      assertRefused(short, 'INVALID_PARAMS');
      assert.equal(short.body.error.message, 'The new password must have at least 10 characters.');
      assert.equal((await other.get('/session')).status, 200, 'so far nothing has changed');
      assert.equal((await change(testPassword, 'another good one')).status, 200);
      assert.equal((await one.get('/session')).status, 200);
      assertRefused(await other.get('/session'), 'UNAUTHORIZED');
      assertRefused(await other.signIn(email, testPassword), 'UNAUTHORIZED');
      assert.equal((await other.signIn(email, 'another good one')).status, 200);
    });

    it('for an organization that they were removed from, and entirely with the last one', async () => {
      const email = newAddress();
      const client = await signedInMember(service, acme, email);
      const globex = (await service.skein('org', 'create', `Globex of ${email}`)).id;
      const { invitation } = await service.skein('member', 'add', globex, email);
      await client.acceptInvitation(invitation, testPassword);
      for (const id of [acme, globex])
        assert.equal((await client.get(client.at('/usage', id))).status, 200, id);
      await service.skein('member', 'remove', acme, email);
      assertRefused(await client.get(client.at('/usage', acme)), 'NOT_FOUND');
      assert.equal((await client.get(client.at('/usage', globex))).status, 200);
      await service.skein('member', 'remove', globex, email);
      assertRefused(await client.get('/session'), 'UNAUTHORIZED');
    });
  });

  it('is logged by trace ID and without secrets', async () => {
    const email = newAddress();
    const client = await signedInMember(service, acme, email, 'admin');
    const answer = await client.signIn(email, testPassword);
    const traceId = answer.headers.get('x-request-id');
    const { body } = await client.get(client.at(`/audit?traceId=${traceId}`));
    assert.deepEqual(
      body.events.map(({ action, actor }: { action: string; actor: string }) => [action, actor]),
      [['session.started', email]],
    );
    const { body: all } = await client.get(client.at('/audit'));
    const actions = all.events.map(({ action }: { action: string }) => action);
    for (const action of ['member.added', 'member.invited', 'member.joined', 'session.started'])
      assert.ok(actions.includes(action), action);
    const log = service.output.filter((line) => line.startsWith('{'));
    const logged = JSON.stringify(all) + log.join('\n');
    assert.ok(!logged.includes(testPassword));
    assert.ok(!logged.includes(client.cookies.get('skein') as string));
    assert.ok(!/inv_/.test(logged));
  });
});

describe('Signing in over HTTPS', () => {
  it('sets a cookie that is sent only over HTTPS and that no neighboring host can set', async () => {
    const port = String(await freePort());
    const environment = { SKEIN_BASE_URL: 'https://skein.example', SKEIN_PORT: port };
    const service = await startWithoutDemo(environment);
    try {
      assert.match(service.output.join('\n'), /SKEIN_TRUSTED_PROXIES is not set/);
      await service.skein('org', 'create', 'Acme');
      const { invitation } = await service.skein('member', 'add', 'Acme', 'ada@acme.example');
      const client = new ConsoleClient(`http://127.0.0.1:${port}`);
      const answer = await client.acceptInvitation(invitation, testPassword);
      assert.match(
        answer.headers.getSetCookie()[0] ?? '',
        /^__Host-skein=[\w-]{43}; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      );
      assert.equal((await client.get('/session')).status, 200);
      client.cookies.set('skein', client.cookies.get('__Host-skein') as string);
      client.cookies.delete('__Host-skein');
      assertRefused(await client.get('/session'), 'UNAUTHORIZED');
    } finally {
      await service.end();
    }
  });
});
