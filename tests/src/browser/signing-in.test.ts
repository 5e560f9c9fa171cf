import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Route } from 'playwright-core';
import { lookAt, sharedBrowser, Window } from '../../harness/browser/browser.ts';
import {
  chooseFromAccountMenu,
  demoLink,
  gone,
  heading,
  shown,
  signIn,
} from '../../harness/browser/people.ts';
import { parseToken, signedInMember, testPassword } from '../../harness/console/console-client.ts';
import { OpenIdProvider } from '../../harness/console/openid-provider.ts';
import { assertDone } from '../../harness/console/visitor.ts';
import { Api } from '../../harness/http/api.ts';
import { Service } from '../../harness/service/service.ts';
import { createThread } from '../../harness/world/world.ts';

const admin = 'admin@demo.example';
const password = 'violin sky harbour';

/**
 * For the page: cancels a rename and begins again while the page waits for what the sign-in page needs. The test would be
 * too late on a busy machine: a skeleton replaces the thread after 300 ms.
 */
const renameBeforeSignIn = `{
  const send = fetch;
  globalThis.fetch = async (url, ...options) => {
    if (url.endsWith('/console/sign-in')) {
      globalThis.fetch = send;
      for (const key of ['Escape', 'F2']) {
        document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      globalThis.wasUsable = document.activeElement.ariaLabel === 'Thread title';
    }
    return send(url, ...options);
  };
}`;

describe('Signing in', () => {
  let provider: OpenIdProvider;
  let service: Service;
  let browser: Browser;
  before(async () => {
    provider = await OpenIdProvider.start();
    service = await Service.start({ environment: { SKEIN_MODEL: 'scripted', ...provider.environment } });
    provider.trust(`${service.baseUrl}/console/sso/callback`);
    browser = await sharedBrowser();
  });
  after(async () => {
    await service?.end();
    await provider?.end();
  });

  const open = () => Window.open(browser, service.baseUrl, { trusted: [provider.issuer] });

  it('starts with the printed link: choose a password, then see the threads', async () => {
    const window = await open();
    const { page } = window;
    await page.goto(demoLink(service));
    await shown(heading(page, 'Join Demo'));
    assert.equal(await page.getByLabel('Email').inputValue(), admin);
    await page.getByLabel('New password').fill('short one');
    await shown(page.getByText('Too short'));
    await lookAt(page, 'invitation');
    await page.getByRole('button', { name: 'Set password and join' }).click();
    await shown(page.getByText(/^The password .*at least 10 characters/));
    await page.getByLabel('New password').fill(password);
    await page.getByRole('button', { name: 'Set password and join' }).click();
    await shown(heading(page, 'My threads'));
    assert.equal(new URL(page.url()).pathname, '/');
    await window.close();
  });

  it('says so when the link was used already', async () => {
    const window = await open();
    await window.page.goto(demoLink(service));
    await shown(heading(window.page, 'This link is no longer valid'));
    await window.page.getByRole('link', { name: 'Go to sign in' }).click();
    await shown(heading(window.page, 'Sign in'));
    await window.close();
  });

  it('accepts a new link opened in the tab of the old one', async () => {
    const window = await open();
    const { page } = window;
    await page.goto(demoLink(service));
    await shown(heading(page, 'This link is no longer valid'));
    const { invitation } = await service.skein('member', 'add', 'Demo', 'late@demo.example');
    await page.goto(`/invitation#${parseToken(invitation)}`);
    await shown(heading(page, 'Join Demo'));
    assert.equal(await page.getByLabel('Email').inputValue(), 'late@demo.example');
    await page.getByLabel('New password').fill(password);
    await page.getByRole('button', { name: 'Set password and join' }).click();
    await shown(heading(page, 'My threads'));
    await window.close();
  });

  it('never redirects to another site, and ignores hostile return URLs', async () => {
    const window = await open();
    const { page } = window;
    await page.goto('/sign-in?problem=__proto__&returnTo=%2F.%2F%2Fevil.example%2Fx');
    await shown(page.getByRole('alert'));
    await signIn(page, admin, password);
    await shown(heading(page, 'My threads'));
    assert.equal(page.url(), `${service.baseUrl}/`);
    await window.close();
  });

  it('explains that a password is wrong, accepts the right one, and signs out', async () => {
    const window = await open();
    const { page } = window;
    await page.goto('/');
    await signIn(page, admin, 'not the password');
    await shown(page.getByRole('alert'));
    assert.equal(await page.getByLabel('Email').inputValue(), admin, 'what was typed stays');
    await lookAt(page, 'wrong-password');
    await signIn(page, admin, password);
    await shown(heading(page, 'My threads'));
    await gone(page.getByRole('alert'));
    await page.route('**/console/sign-out', (route) => route.abort());
    await chooseFromAccountMenu(page, 'Sign out');
    await shown(page.getByText('Couldn’t sign out'));
    await page.unroute('**/console/sign-out');
    await chooseFromAccountMenu(page, 'Sign out');
    await shown(heading(page, 'Sign in'));
    await page.goto('/settings/keys');
    await shown(heading(page, 'Sign in'));
    await window.close();
  });

  it('returns to the thread whose link was opened, or that was being changed', async () => {
    const { key } = await service.skein('key', 'create', 'Demo', '--user', admin);
    const api = new Api(service.baseUrl, key);
    const { thread } = await createThread(api, { title: 'Shared by link' });
    const { threadUrl } = (await api.get(thread.id)).body.thread;
    const window = await open();
    await window.page.goto(threadUrl);
    await shown(heading(window.page, 'Sign in'));
    await signIn(window.page, admin, password);
    await shown(heading(window.page, 'Shared by link'));
    assert.equal(window.page.url(), threadUrl);

    await window.page.reload();
    await shown(heading(window.page, 'Shared by link'));
    // The session ends with the change: an earlier request without it would show the sign-in page too soon.
    await window.page.route(`**/threads/${thread.id}`, async (route) => {
      if (route.request().method() === 'PATCH') await window.page.context().clearCookies();
      await route.continue();
    });
    const title = window.page.getByLabel('Thread title');
    await window.page.keyboard.press('F2');
    await title.fill('Too late');
    await window.page.evaluate(renameBeforeSignIn);
    await title.press('Enter');
    await shown(heading(window.page, 'Sign in'));
    assert.ok(await window.page.evaluate('wasUsable'), 'the thread, until the other page is there');
    await signIn(window.page, admin, password);
    await shown(heading(window.page, 'Shared by link'));
    await window.close();
  });

  it('says which memberships a link of the operator to a new password ends', async () => {
    const email = 'hana@demo.example';
    const hana = await signedInMember(service, 'Demo', email);
    const { id } = await service.skein('org', 'create', 'Initech');
    const { invitation } = await service.skein('member', 'add', id, email);
    assertDone(await hana.acceptInvitation(invitation, testPassword));
    const reset = await service.skein('member', 'invite', id, email);
    const window = await open();
    await window.page.goto(`/invitation#${parseToken(reset.invitation)}`);
    await shown(heading(window.page, 'Choose a new password'));
    await shown(window.page.getByText('Your other organization has to invite you again.'));
    await lookAt(window.page, 'operators-password-link');
    await window.close();
  });

  it('goes through the provider of the organization, and shows its errors', async () => {
    const window = await open();
    const { page } = window;
    provider.account = 'refuses';
    await page.goto('/published');
    await page.getByRole('link', { name: 'Continue with Acme Login' }).click();
    await shown(
      page.getByRole('alert').filter({ hasText: 'Sign-in with your identity provider was cancelled' }),
    );
    provider.account = { subject: 'admin-1', email: admin, emailVerified: true };
    await page.goto('/published');
    await page.getByRole('link', { name: 'Continue with Acme Login' }).click();
    await shown(heading(page, 'Published threads'));
    await page.goto('/settings/account');
    await shown(heading(page, 'Your account'));
    assert.equal(await page.getByLabel('Current password').count(), 0, 'there is none to change');
    await window.close();
  });

  it('asks a person who signs in with a provider to accept each organization', async () => {
    const email = 'dora@demo.example';
    const { invitation } = await service.skein('member', 'add', 'Demo', email);
    for (const name of ['Second', 'Third']) {
      await service.skein('org', 'create', name);
      await service.skein('member', 'add', name, email);
    }
    provider.account = { subject: 'dora-1', email, emailVerified: true };
    const window = await open();
    const { page } = window;
    await page.goto(`/invitation#${parseToken(invitation)}`);
    await page.getByRole('link', { name: 'Continue with Acme Login' }).click();
    await shown(heading(page, 'Your invitations'));
    await lookAt(page, 'your-invitations');
    await page.goto('/settings/documents');
    const joinThird = page.getByRole('button', { name: 'Join Third' });
    await shown(joinThird);
    await service.skein('member', 'remove', 'Third', email);
    await joinThird.click();
    await shown(page.getByRole('alert').filter({ hasText: 'Couldn’t join' }));
    await gone(joinThird);
    window.assertFaultless();
    const read = Promise.withResolvers<void>();
    const joined = Promise.withResolvers<void>();
    const readLate = async (route: Route) => {
      const response = await route.fetch();
      read.resolve();
      await joined.promise;
      await route.fulfill({ response });
    };
    await page.route('**/console/session', readLate, { times: 1 });
    await page.evaluate('dispatchEvent(new Event("focus"))');
    await read.promise;
    await page.getByRole('button', { name: 'Join Demo' }).click();
    await shown(heading(page, 'Documents'));
    const late = page.waitForResponse('**/console/session');
    joined.resolve();
    await (await late).finished();
    await page.evaluate('new Promise(requestAnimationFrame)');
    assert.equal(await heading(page, 'Documents').count(), 1, 'a session that was read before stays out');
    await page.goto('/settings/account');
    await page.getByRole('button', { name: 'Join Second' }).click();
    await shown(page.getByText('Second: member (current)'));
    await gone(page.getByRole('heading', { name: 'Invitations' }));
    await window.close();
  });
});
