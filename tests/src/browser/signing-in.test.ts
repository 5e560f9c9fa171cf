import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Route } from 'playwright-core';
import { Api } from '../api.ts';
import { signedInMember, testPassword, tokenOf } from '../console/console-client.ts';
import { OpenIdProvider } from '../console/openid-provider.ts';
import { assertDone } from '../console/visitor.ts';
import { Service } from '../service.ts';
import { createThread } from '../world.ts';
import { lookAt, sharedBrowser, Window } from './browser.ts';
import {
  chooseFromAccountMenu,
  countRequests,
  demoLink,
  gone,
  heading,
  openAs,
  shown,
  signIn,
} from './people.ts';

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
    await page.goto(`/invitation#${tokenOf(invitation)}`);
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

  it('ends in every window when somebody signs out everywhere', async () => {
    const [here, there] = [await open(), await open()];
    for (const { page } of [here, there]) {
      await page.goto('/settings/documents');
      await signIn(page, admin, password);
      await shown(heading(page, 'Documents'));
    }
    await here.page.goto('/settings/account');
    await here.page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await here.page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
    await shown(heading(here.page, 'Sign in'));
    // No click here: the sidebar polls recent threads, and may have noticed already.
    await there.page.goto('/published');
    await shown(heading(there.page, 'Sign in'));
    await signIn(there.page, admin, password);
    await shown(heading(there.page, 'Published threads'));
    await there.page.context().clearCookies();
    await there.page.getByRole('link', { name: 'Documents' }).click();
    const notice = there.page.getByText('Your session has ended. Sign in to continue.');
    await shown(notice);
    await signIn(there.page, admin, 'not the password');
    await shown(there.page.getByText('Wrong email or password.'));
    assert.equal(await notice.count(), 0, 'one message at a time');
    await signIn(there.page, admin, password);
    await shown(heading(there.page, 'Documents'));
    await here.close();
    await there.close();
  });

  it('continues after a change of the password, which a double click sends once', async () => {
    const email = 'pat@demo.example';
    const client = await signedInMember(service, 'Demo', email, 'member');
    const window = await openAs(browser, client);
    const { page } = window;
    await page.goto('/settings/account');
    await page.getByLabel('Current password').fill(testPassword);
    for (const label of ['New password', 'Confirm new password']) {
      await page.getByLabel(label, { exact: true }).fill('another long password');
    }
    const changes = countRequests(page, '/password');
    await page.getByRole('button', { name: 'Change password' }).dblclick();
    await shown(page.getByText('Password changed. You have been signed out everywhere else.'));
    assert.equal(changes(), 1);
    assert.equal(await page.getByRole('alert').filter({ hasText: 'Couldn’t' }).count(), 0);
    await window.close();
  });

  it('ends even while a secret is on its way, which otherwise keeps the page open', async () => {
    const window = await open();
    const { page } = window;
    await page.goto('/settings/keys');
    await signIn(page, admin, password);
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Slow');
    await page.route('**/keys', (route) => {
      if (route.request().method() !== 'POST') return route.continue();
    });
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await sent;
    await page.context().clearCookies();
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await shown(page.getByText('Your session has ended. Sign in to continue.'));
    await window.close();
  });

  it('lets a person switch organizations, and starts in the last one used', async () => {
    await service.skein('org', 'create', 'Acme');
    const client = await signedInMember(service, 'Demo', 'cleo@demo.example', 'admin');
    const { invitation } = await service.skein('member', 'add', 'Acme', 'cleo@demo.example');
    const window = await openAs(browser, client);
    const { page } = window;
    // The operator's command does not know which port the service uses.
    await page.goto(`/invitation#${tokenOf(invitation)}`);
    await shown(heading(page, 'Join Acme'));
    await page.getByLabel('Your password').fill(testPassword);
    await page.getByRole('button', { name: 'Join', exact: true }).click();
    const switcher = page.getByRole('button', { name: /^Switch organization/ });
    await shown(switcher.filter({ hasText: 'Acme' }));
    assert.equal(await page.getByRole('link', { name: 'Members' }).count(), 0, 'a member of Acme');
    await switcher.click();
    await lookAt(page, 'organizations');
    await page.getByRole('menuitemradio', { name: 'Demo' }).click();
    await shown(page.getByRole('link', { name: 'Members' }));
    await page.reload();
    await shown(switcher.filter({ hasText: 'Demo' }));
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
    await window.page.goto(`/invitation#${tokenOf(reset.invitation)}`);
    await shown(heading(window.page, 'Choose a new password'));
    await shown(window.page.getByText('Your other organization has to invite you again.'));
    await lookAt(window.page, 'operators-password-link');
    await window.close();
  });

  it('shows a person who loses or gets a role, or loses an organization, what they may open', async () => {
    const email = 'dana@demo.example';
    const dana = await signedInMember(service, 'Demo', email, 'admin');
    const eli = await signedInMember(service, 'Demo', 'eli@demo.example', 'admin');
    await service.skein('org', 'create', 'Globex');
    const { invitation } = await service.skein('member', 'add', 'Globex', email);
    assertDone(await dana.acceptInvitation(invitation, testPassword));
    const window = await openAs(browser, dana);
    const { page } = window;
    const follow = (name: string) => page.getByRole('link', { name }).first().click();
    await page.goto('/settings/members');
    await shown(page.getByRole('button', { name: /^Switch organization/ }).filter({ hasText: 'Demo' }));
    // Otherwise this page could be the first to notice, and the link below would be gone.
    await shown(page.getByRole('row').filter({ hasText: email }));
    assertDone(await eli.patch(eli.at(`/members/${dana.session.user.id}`), { role: 'member' }));
    await follow('Audit log');
    await shown(page.getByText('Only admins of Demo can open this page.'));
    const members = page.getByRole('link', { name: 'Members' });
    await gone(members);
    assertDone(await eli.patch(eli.at(`/members/${dana.session.user.id}`), { role: 'admin' }));
    await follow('Published threads');
    await shown(members);

    await service.skein('member', 'remove', 'Demo', email);
    await follow('My threads');
    await shown(page.getByText('You are no longer a member of Demo.'));
    await shown(heading(page, 'My threads'));
    await shown(page.getByText('Globex', { exact: true }));
    await service.skein('member', 'remove', 'Globex', email);
    await follow('Published threads');
    await shown(heading(page, 'Sign in'));
    await window.close();
  });

  it('as another person hides the first one’s data in another tab once it is used or focused', async () => {
    const [fay, gus] = [
      await signedInMember(service, 'Demo', 'fay@demo.example'),
      await signedInMember(service, 'Demo', 'gus@demo.example'),
    ];
    assertDone(await fay.post(fay.at('/threads'), { prompt: 'A secret of Fay' }), 201);
    const window = await openAs(browser, fay);
    const uses = [
      async ({ page }: Window) => {
        await page.getByLabel('Your question').fill('Who am I?');
        await page.getByRole('button', { name: 'Ask' }).click();
      },
      ({ page }: Window) => page.evaluate('dispatchEvent(new Event("focus"))'),
    ];
    const tabs = await Promise.all(uses.map(() => window.tab()));
    for (const { page } of tabs) {
      await page.goto('/new');
      await shown(page.getByText('A secret of Fay'));
      // Polls of the sidebar would remove it later.
      await page.route('**/threads?scope=mine*', (route) => route.abort());
    }
    const cookies = [...gus.cookies].map(([name, value]) => ({ name, value, url: service.baseUrl }));
    await window.page.context().addCookies(cookies);
    for (const [index, tab] of tabs.entries()) {
      await uses[index]!(tab);
      await shown(tab.page.getByRole('button', { name: /^Your account: gus@/ }));
      await gone(tab.page.getByText('A secret of Fay'));
      tab.assertFaultless();
    }
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
    await page.goto(`/invitation#${tokenOf(invitation)}`);
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
