import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { assertRefused } from '../../harness/console/assertions.ts';
import {
  ConsoleClient,
  parseToken,
  signedInMember,
  testPassword,
} from '../../harness/console/console-client.ts';
import { OpenIdProvider } from '../../harness/console/openid-provider.ts';
import { goThrough } from '../../harness/console/provider-way.ts';
import { Api } from '../../harness/http/api.ts';
import type { Service } from '../../harness/service/service.ts';
import { startWithoutDemo } from '../../harness/service/shared-service.ts';
import { describeOnEachEngine } from '../../harness/world/engines.ts';

const hijackersPassword = 'a password of Mallory';

/** An admin adds a stranger's address to their own organization, and uses the link themselves. */
describeOnEachEngine('An account that an admin created in advance', ({ freshStore }) => {
  let provider: OpenIdProvider;
  let service: Service;
  let evil: string;
  let good: string;
  let mallory: ConsoleClient;
  let grace: ConsoleClient;
  before(async () => {
    provider = await OpenIdProvider.start();
    service = await startWithoutDemo({ ...provider.environment, ...(await freshStore()) });
    provider.trust(`${service.baseUrl}/console/sso/callback`);
    evil = (await service.skein('org', 'create', 'Evil')).id;
    good = (await service.skein('org', 'create', 'Good')).id;
    mallory = await signedInMember(service, evil, 'mallory@evil.example', 'admin');
    grace = await signedInMember(service, good, 'grace@good.example', 'admin');
  });
  after(async () => {
    await service?.end();
    await provider?.end();
  });

  const nobody = () => new ConsoleClient(service.baseUrl);
  const listIds = (session: any) => session.organizations.map(({ id }: { id: string }) => id);
  const invitedTo = (session: any) => session.invitations.map(({ id }: { id: string }) => id).toSorted();

  async function add(admin: ConsoleClient, email: string, role = 'member'): Promise<string> {
    const added = await admin.post(admin.at('/members'), { email, role, service: false });
    assert.equal(added.status, 201, JSON.stringify(added.body));
    return added.body.link;
  }

  async function hijack(email: string, role = 'member'): Promise<ConsoleClient> {
    const hijacker = nobody();
    const accepted = await hijacker.acceptInvitation(await add(mallory, email, role), hijackersPassword);
    assert.equal(accepted.status, 200, JSON.stringify(accepted.body));
    assert.deepEqual(listIds(accepted.body), [evil]);
    return hijacker;
  }

  async function throughProvider(email: string): Promise<ConsoleClient> {
    provider.account = { subject: email, email, emailVerified: true };
    const browser = nobody();
    assert.equal(await goThrough(provider, browser), '/');
    assert.equal((await browser.get('/session')).status, 200);
    return browser;
  }

  it('is lost to the admin once its owner signs in through a provider', async () => {
    const email = 'victim@good.example';
    const hijacker = await hijack(email, 'admin');
    const made = await hijacker.post(hijacker.at('/keys'), { name: 'Kept', scope: 'personal' });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    await add(grace, email);
    const victim = await throughProvider(email);

    // The earlier session, password and key no longer work.
    assertRefused(await hijacker.get('/session'), 'UNAUTHORIZED');
    assertRefused(await hijacker.get(hijacker.at('/threads?scope=mine', evil)), 'UNAUTHORIZED');
    assertRefused(await hijacker.post('/sign-out-everywhere'), 'UNAUTHORIZED');
    assertRefused(await nobody().signIn(email, hijackersPassword), 'UNAUTHORIZED');
    assert.equal((await new Api(service.baseUrl, made.body.key).list()).status, 401);

    // The owner has not joined the organization that the admin accepted for them.
    assert.deepEqual(listIds(victim.session), []);
    assert.deepEqual(invitedTo(victim.session), [evil, good].toSorted());
    for (const id of [evil, good])
      assertRefused(await victim.get(victim.at('/threads?scope=mine', id)), 'NOT_FOUND');
    const joined = await victim.post(`/invitations/${good}/accept`);
    assert.deepEqual([joined.status, listIds(joined.body)], [200, [good]]);

    // A new link from the admin cannot set a password.
    const { link } = (await mallory.post(mallory.at(`/members/${victim.session.user.id}/invitation`))).body;
    const read = await nobody().post('/invitation/read', { token: parseToken(link) });
    assert.equal(read.body.password, 'sso');
    assertRefused(await nobody().acceptInvitation(link, hijackersPassword), 'INVALID_PARAMS');
    assert.equal((await victim.get('/session')).status, 200);

    const { body } = await mallory.get(mallory.at('/audit'));
    const voided = body.events.filter(({ action }: { action: string }) => action === 'password.voided');
    assert.deepEqual(
      voided.map(({ actor, subject }: { actor: string; subject: string }) => [actor, subject]),
      [[email, victim.session.user.id]],
    );
  });

  it('cannot read what its owner writes after they join the admin’s organization', async () => {
    const email = 'both@good.example';
    const hijacker = await hijack(email);
    await add(grace, email);
    const victim = await throughProvider(email);
    for (const id of [evil, good]) assert.equal((await victim.post(`/invitations/${id}/accept`)).status, 200);
    const prompted = await victim.post(victim.at('/threads', evil), { prompt: 'Mine alone' });
    assert.equal(prompted.status, 201, JSON.stringify(prompted.body));
    assertRefused(await hijacker.get(hijacker.at('/threads?scope=mine', evil)), 'UNAUTHORIZED');
    assertRefused(await nobody().signIn(email, hijackersPassword), 'UNAUTHORIZED');
  });

  it('enters no other organization and cannot sign its owner out there', async () => {
    const email = 'password@good.example';
    const hijacker = await hijack(email);
    const owner = nobody();
    const accepted = await owner.acceptInvitation(await add(grace, email), testPassword);
    assert.deepEqual([accepted.status, listIds(accepted.body)], [200, [good]]);
    assertRefused(await hijacker.get(hijacker.at('/threads?scope=mine', good)), 'NOT_FOUND');
    assertRefused(await owner.get(owner.at('/threads?scope=mine', evil)), 'NOT_FOUND');
    const change = { current: hijackersPassword, next: 'another of Mallory' };
    assert.equal((await hijacker.post('/password', change)).status, 200);
    assert.equal((await hijacker.post('/sign-out-everywhere')).status, 200);
    assertRefused(await hijacker.get('/session'), 'UNAUTHORIZED');
    assert.equal((await owner.get('/session')).status, 200);
    const again = await nobody().signIn(email, testPassword);
    assert.deepEqual([again.status, listIds(again.body)], [200, [good]]);
    const { body } = await grace.get(grace.at('/audit'));
    const actions = body.events.map(({ action }: { action: string }) => action);
    assert.ok(!actions.includes('password.changed') && !actions.includes('session.ended-everywhere'));
    const refused = body.events.filter(({ action }: { action: string }) => action === 'session.refused');
    assert.ok(
      refused.every(({ detail }: any) => detail.email !== email),
      'neither of them failed to sign in',
    );
  });

  it('leaves its owner the operator’s link to a new password', async () => {
    const email = 'reset@good.example';
    assert.equal((await nobody().acceptInvitation(await add(grace, email), testPassword)).status, 200);
    const reset = await service.skein('member', 'invite', good, email);
    const hijacker = await hijack(email);
    const change = { current: hijackersPassword, next: 'another of Mallory' };
    assert.equal((await hijacker.post('/password', change)).status, 200);
    const owner = await nobody().acceptInvitation(reset.invitation, 'a new password of the owner');
    assert.deepEqual([owner.status, listIds(owner.body)], [200, [good]]);
    assertRefused(await hijacker.get('/session'), 'UNAUTHORIZED');
  });

  it('is taken back by the operator’s link, although its password changes meanwhile', async () => {
    const email = 'taken@good.example';
    const hijacker = await hijack(email);
    const reset = await service.skein('member', 'invite', evil, email);
    const change = { current: hijackersPassword, next: 'another of Mallory' };
    assert.equal((await hijacker.post('/password', change)).status, 200);
    assert.equal((await nobody().acceptInvitation(reset.invitation, testPassword)).status, 200);
    assertRefused(await hijacker.get('/session'), 'UNAUTHORIZED');
  });

  it('cannot be guessed by changing a password repeatedly', async () => {
    const email = 'changed@good.example';
    assert.equal((await nobody().acceptInvitation(await add(grace, email), testPassword)).status, 200);
    const hijacker = await hijack(email);
    let current = hijackersPassword;
    const statuses = [];
    for (let guess = 0; guess < 12; guess += 1) {
      const next = `change number ${guess}`;
      const { status } = await hijacker.post('/password', { current, next });
      statuses.push(status);
      if (status === 200) current = next;
    }
    assert.deepEqual(statuses.slice(-3), [429, 429, 429]);
    assertRefused(await nobody().signIn(email, hijackersPassword), 'RATE_LIMITED');
  });

  it('does not accept the password that its owner uses elsewhere', async () => {
    const email = 'same@good.example';
    const owner = nobody();
    assert.equal((await owner.acceptInvitation(await add(grace, email), testPassword)).status, 200);
    const hijacker = await hijack(email);
    const refused = await hijacker.post('/password', { current: hijackersPassword, next: testPassword });
    assertRefused(refused, 'INVALID_PARAMS');
    assert.match(refused.body.error.message, /do not already use for another organization/);
    assert.equal((await owner.get('/session')).status, 200);
    assert.deepEqual(listIds((await nobody().signIn(email, hijackersPassword)).body), [evil]);
  });

  it('cannot be guessed through links of another organization', async () => {
    const email = 'guessed@good.example';
    assert.equal((await nobody().acceptInvitation(await add(grace, email), testPassword)).status, 200);
    const statuses = [];
    for (let guess = 0; guess < 12; guess += 1) {
      const { id, link } = (
        await mallory.post(mallory.at('/members'), { email, role: 'member', service: false })
      ).body;
      const answer = await nobody().acceptInvitation(link, `guess number ${guess}`);
      statuses.push(answer.status);
      assert.equal((await mallory.delete(mallory.at(`/members/${id}`))).status, 200);
    }
    assert.deepEqual(
      statuses.slice(0, 10),
      Array.from({ length: 10 }, () => 200),
    );
    assert.deepEqual(statuses.slice(10), [429, 429]);
  });

  it('keeps the password that its owner enters at the operator’s link', async () => {
    const email = 'honest@good.example';
    assert.equal((await nobody().acceptInvitation(await add(grace, email), testPassword)).status, 200);
    const acme = (await service.skein('org', 'create', 'Acme')).id;
    const { invitation } = await service.skein('member', 'add', acme, email);
    const accepted = await nobody().acceptInvitation(invitation, testPassword);
    assert.deepEqual(listIds(accepted.body).toSorted(), [acme, good].toSorted());
    const link = await add(mallory, email);
    assertRefused(await nobody().acceptInvitation(link, hijackersPassword), 'INVALID_PARAMS');
    assert.equal((await nobody().signIn(email, testPassword)).status, 200);
  });

  it('is accepted through single sign-on only by a session that signed in that way', async () => {
    const email = 'plain@good.example';
    const client = await signedInMember(service, good, email);
    await add(mallory, email);
    assert.deepEqual(client.session.invitations, []);
    for (const id of [evil, good, 'org_none'])
      assertRefused(await client.post(`/invitations/${id}/accept`), 'NOT_FOUND');
  });
});
