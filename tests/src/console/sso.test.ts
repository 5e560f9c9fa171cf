import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertRefused } from '../../harness/console/assertions.ts';
import { ConsoleClient, signedInMember, testPassword } from '../../harness/console/console-client.ts';
import { clientSecret, OpenIdProvider } from '../../harness/console/openid-provider.ts';
import { goThrough as wayThrough } from '../../harness/console/provider-way.ts';
import { eventually } from '../../harness/service/eventually.ts';
import type { Service } from '../../harness/service/service.ts';
import { sharedService, startWithoutDemo } from '../../harness/service/shared-service.ts';

describe('Single sign-on', () => {
  let provider: OpenIdProvider;
  let service: Service;
  before(async () => {
    provider = await OpenIdProvider.start();
    service = await startWithoutDemo(provider.environment);
    provider.trust(`${service.baseUrl}/console/sso/callback`);
    await service.skein('member', 'add', 'First', 'ada@demo.example', '--role', 'admin');
  });
  after(async () => {
    await service?.end();
    await provider?.end();
  });

  const ada = { subject: 'ada-1', email: 'Ada@demo.example', emailVerified: true };

  const goThrough = (browser: ConsoleClient, returnTo?: string, atCallback?: (url: URL) => URL) =>
    wayThrough(provider, browser, returnTo, atCallback);
  const newBrowser = () => new ConsoleClient(service.baseUrl);
  const problem = (name: string) => `/sign-in?problem=${name}`;

  it('is offered by name', async () => {
    assert.deepEqual((await newBrowser().get('/sign-in')).body, {
      sso: { name: 'Acme Login' },
      passwordLinks: false,
    });
  });

  it('starts a session for the person with the verified address and returns to the requested page', async () => {
    provider.account = ada;
    const browser = newBrowser();
    assert.equal(await goThrough(browser, '/threads/thr_1?x=y'), '/threads/thr_1?x=y');
    assert.deepEqual([...browser.cookies.keys()], ['skein'], 'what it began with is gone');
    const { status, body } = await browser.get('/session');
    assert.equal(status, 200);
    assert.equal(body.user.email, 'ada@demo.example');
    assert.equal(body.proof, 'sso');
    assert.deepEqual(body.organizations, [], 'nothing is accepted yet');
    const [invited] = body.invitations;
    assert.equal(invited.name, 'First');
    const joined = await browser.post(`/invitations/${invited.id}/accept`);
    assert.deepEqual([joined.status, joined.body.organizations[0].name], [200, 'First']);
    assertRefused(await browser.post(`/invitations/${invited.id}/accept`), 'NOT_FOUND', 'once');
    assert.equal(await goThrough(browser, '/'), '/');
    assert.equal((await browser.get('/session')).body.organizations[0].name, 'First', 'as they left it');
    assertRefused(
      await browser.post('/password', { current: 'no password', next: testPassword }),
      'INVALID_PARAMS',
    );
    const { body: audit } = await browser.get(browser.at('/audit'));
    const started = audit.events.find(({ action }: { action: string }) => action === 'session.started');
    assert.deepEqual([started.actor, started.detail], ['ada@demo.example', { proof: 'sso' }]);
  });

  it('recognizes a person whose address has changed at the provider', async () => {
    provider.account = { ...ada, email: 'lovelace@demo.example' };
    const browser = newBrowser();
    assert.equal(await goThrough(browser), '/');
    assert.equal((await browser.get('/session')).body.user.email, 'ada@demo.example');
  });

  it('starts from a page whose URL is too long to return to', async () => {
    provider.account = ada;
    const cited = `/documents/doc_1?cited=${'%E6%BC%A2'.repeat(400)}`;
    assert.equal(await goThrough(newBrowser(), cited), '/documents/doc_1');
  });

  it('never leads to another site', async () => {
    provider.account = ada;
    for (const elsewhere of ['https://evil.example/', '//evil.example', '/\\evil.example'])
      assert.equal(await goThrough(newBrowser(), elsewhere), '/');
  });

  it('lets an admin add a former member with threads, without a link, and only the provider lets them in', async () => {
    const ada = await signedInMember(service, 'First', 'admin@demo.example', 'admin');
    const email = 'kim@demo.example';
    const body = { email, role: 'member', service: false };
    const { body: added } = await ada.post(ada.at('/members'), body);
    const kim = new ConsoleClient(service.baseUrl);
    assert.equal((await kim.acceptInvitation(added.link, testPassword)).status, 200);
    const { body: made } = await kim.post(kim.at('/threads'), { prompt: 'Between us' });
    assert.equal((await ada.call('DELETE', ada.at(`/members/${added.id}`))).status, 200);

    const again = await ada.post(ada.at('/members'), body);
    assert.deepEqual(
      [again.status, again.body],
      [201, { id: added.id, link: null, mailed: false, expiresAt: null }],
    );
    assertRefused(await ada.post(ada.at(`/members/${added.id}/invitation`)), 'INVALID_PARAMS');
    assertRefused(await newBrowser().signIn(email, testPassword), 'UNAUTHORIZED');
    assertRefused(await ada.post(ada.at('/members'), { ...body, service: true }), 'INVALID_PARAMS');

    provider.account = { subject: 'kim-1', email, emailVerified: true };
    const browser = newBrowser();
    await goThrough(browser);
    const [invited] = (await browser.get('/session')).body.invitations;
    assert.equal((await browser.post(`/invitations/${invited.id}/accept`)).status, 200);
    assert.equal((await browser.get(browser.at(`/threads/${made.thread.id}`))).status, 200);
  });

  it('rejects an address that the provider has not verified', async () => {
    await service.skein('member', 'add', 'First', 'ben@demo.example');
    const unverified = { subject: 'ben-1', email: 'ben@demo.example', emailVerified: false };
    for (const account of [unverified, { subject: 'ben-1' }]) {
      provider.account = account;
      const browser = newBrowser();
      assert.equal(await goThrough(browser), problem('unverified'));
      assertRefused(await browser.get('/session'), 'UNAUTHORIZED');
    }
  });

  it('rejects people who are not members, and service accounts', async () => {
    await service.skein('member', 'add', 'First', 'robot@demo.example', '--service');
    for (const email of ['stranger@demo.example', 'robot@demo.example']) {
      provider.account = { subject: email, email, emailVerified: true };
      assert.equal(await goThrough(newBrowser()), problem('unknown-person'), email);
    }
  });

  it('rejects another subject with the address of a person bound to a different subject', async () => {
    provider.account = { ...ada, subject: 'impostor' };
    const browser = newBrowser();
    assert.equal(await goThrough(browser), problem('unknown-person'));
    assertRefused(await browser.get('/session'), 'UNAUTHORIZED');
  });

  it('rejects a subject that no provider may send', async () => {
    for (const subject of ['a\0b', 'ä', 'x'.repeat(256), 'x'.repeat(3000)]) {
      provider.account = { ...ada, subject };
      assert.equal(await goThrough(newBrowser()), problem('failed'), subject);
    }
  });

  it('rejects a response with a different state, and one that another browser requested', async () => {
    provider.account = ada;
    const changed = (url: URL) => {
      url.searchParams.set('state', 'another');
      return url;
    };
    assert.equal(await goThrough(newBrowser(), '/', changed), problem('expired'));
    const browser = newBrowser();
    const forgetful = (url: URL) => {
      browser.cookies.clear();
      return url;
    };
    assert.equal(await goThrough(browser, '/', forgetful), problem('expired'));
    assertRefused(await browser.get('/session'), 'UNAUTHORIZED');
  });

  it('rejects a code that is invalid or was used', async () => {
    provider.account = ada;
    let used: string | null = null;
    await goThrough(newBrowser(), '/', (url) => {
      used = url.searchParams.get('code');
      return url;
    });
    for (const code of ['none', String(used)]) {
      const changed = (url: URL) => {
        url.searchParams.set('code', code);
        return url;
      };
      assert.equal(await goThrough(newBrowser(), '/', changed), problem('failed'), code);
    }
  });

  it('reports that the person cancelled', async () => {
    provider.account = 'refuses';
    assert.equal(await goThrough(newBrowser()), problem('cancelled'));
  });

  it('logs why it failed, without the code and the secret', async () => {
    const wanted = ['unverified', 'unknown-person', 'expired', 'failed', 'cancelled'];
    await eventually(
      () => service.output.filter((line) => line.includes('"msg":"single sign-on failed"')),
      (lines) => {
        const problems = lines.map((line) => JSON.parse(line).problem);
        return wanted.every((name) => problems.includes(name));
      },
    );
    const log = service.output.join('\n');
    assert.ok(!/code=|state=|eyJ/.test(log) && !log.includes(clientSecret));
  });

  it('does not change other people’s passwords', async () => {
    await signedInMember(service, 'First', 'cleo@demo.example');
    assert.equal((await newBrowser().signIn('cleo@demo.example', testPassword)).status, 200);
  });
});

describe('A provider of single sign-on', () => {
  it('that is down affects nothing else, and is tried again', async () => {
    const provider = await OpenIdProvider.start();
    const service = await startWithoutDemo(provider.environment);
    try {
      const browser = new ConsoleClient(service.baseUrl);
      const start = async () => (await browser.fetch('/console/sso/start')).headers.get('location') as string;
      await provider.end();
      assert.equal(await start(), '/sign-in?problem=provider-unavailable');
      await signedInMember(service, 'First', 'ada@demo.example');
      await provider.again();
      provider.trust(`${service.baseUrl}/console/sso/callback`);
      assert.ok((await start()).startsWith(`${provider.issuer}/auth?`));
    } finally {
      await service.end();
      await provider.end();
    }
  });

  it('that is not configured has no routes', async () => {
    const browser = new ConsoleClient((await sharedService()).baseUrl);
    assert.deepEqual((await browser.get('/sign-in')).body, { sso: null, passwordLinks: false });
    for (const path of ['/sso/start', '/sso/callback?code=x&state=y'])
      assertRefused(await browser.get(path), 'NOT_FOUND', path);
  });
});
