import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { lookAt, sharedBrowser, Window } from '../../harness/browser/browser.ts';
import { countRequests, gone, heading, openAs, shown, signIn } from '../../harness/browser/people.ts';
import { parseToken, signedInMember, testPassword } from '../../harness/console/console-client.ts';
import { type SettingsWorld, sharedSettingsWorld } from '../../harness/console/settings-world.ts';
import { assertDone } from '../../harness/console/visitor.ts';

describe('A session in the console', () => {
  let world: SettingsWorld;
  let browser: Browser;
  before(async () => {
    world = await sharedSettingsWorld();
    browser = await sharedBrowser();
  });

  const open = () => Window.open(browser, world.service.baseUrl);
  const signInAsAdmin = (page: Page, password = testPassword) => signIn(page, world.email('ada'), password);
  const member = (email: string, role: 'admin' | 'member' = 'member') =>
    signedInMember(world.service, world.acme, email, role);

  it('ends in every window when somebody signs out everywhere', async () => {
    const [here, there] = [await open(), await open()];
    for (const { page } of [here, there]) {
      await page.goto('/settings/documents');
      await signInAsAdmin(page);
      await shown(heading(page, 'Documents'));
    }
    await here.page.goto('/settings/account');
    await here.page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await here.page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
    await shown(heading(here.page, 'Sign in'));
    // No click here: the sidebar polls recent threads, and may have noticed already.
    await there.page.goto('/published');
    await shown(heading(there.page, 'Sign in'));
    await signInAsAdmin(there.page);
    await shown(heading(there.page, 'Published threads'));
    await there.page.context().clearCookies();
    await there.page.getByRole('link', { name: 'Documents' }).click();
    const notice = there.page.getByText('Your session has ended. Sign in to continue.');
    await shown(notice);
    await signInAsAdmin(there.page, 'not the password');
    await shown(there.page.getByText('Wrong email or password.'));
    assert.equal(await notice.count(), 0, 'one message at a time');
    await signInAsAdmin(there.page);
    await shown(heading(there.page, 'Documents'));
    await here.close();
    await there.close();
  });

  it('continues after a change of the password, which a double click sends once', async () => {
    const window = await openAs(browser, await member(world.email('pat')));
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
    await signInAsAdmin(page);
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
    const email = world.email('cleo');
    const cleo = await member(email, 'admin');
    const { invitation } = await world.service.skein('member', 'add', world.globex, email);
    const window = await openAs(browser, cleo);
    const { page } = window;
    // The operator's command does not know which port the service uses.
    await page.goto(`/invitation#${parseToken(invitation)}`);
    await shown(heading(page, 'Join Globex'));
    await page.getByLabel('Your password').fill(testPassword);
    await page.getByRole('button', { name: 'Join', exact: true }).click();
    const switcher = page.getByRole('button', { name: /^Switch organization/ });
    await shown(switcher.filter({ hasText: 'Globex' }));
    assert.equal(await page.getByRole('link', { name: 'Members' }).count(), 0, 'a member of Globex');
    await switcher.click();
    await lookAt(page, 'organizations');
    await page.getByRole('menuitemradio', { name: 'Acme' }).click();
    await shown(page.getByRole('link', { name: 'Members' }));
    await page.reload();
    await shown(switcher.filter({ hasText: 'Acme' }));
    await window.close();
  });

  it('shows a person who loses or gets a role, or loses an organization, what they may open', async () => {
    const { service, acme, globex } = world;
    const email = world.email('dana');
    const dana = await member(email, 'admin');
    const eli = await member(world.email('eli'), 'admin');
    const { invitation } = await service.skein('member', 'add', globex, email);
    assertDone(await dana.acceptInvitation(invitation, testPassword));
    const window = await openAs(browser, dana);
    const { page } = window;
    const follow = (name: string) => page.getByRole('link', { name }).first().click();
    await page.goto('/settings/members');
    await shown(page.getByRole('button', { name: /^Switch organization/ }).filter({ hasText: 'Acme' }));
    // Otherwise this page could be the first to notice, and the link below would be gone.
    await shown(page.getByRole('row').filter({ hasText: email }));
    assertDone(await eli.patch(eli.at(`/members/${dana.session.user.id}`), { role: 'member' }));
    await follow('Audit log');
    await shown(page.getByText('Only admins of Acme can open this page.'));
    const members = page.getByRole('link', { name: 'Members' });
    await gone(members);
    assertDone(await eli.patch(eli.at(`/members/${dana.session.user.id}`), { role: 'admin' }));
    await follow('Published threads');
    await shown(members);

    await service.skein('member', 'remove', acme, email);
    await follow('My threads');
    await shown(page.getByText('You are no longer a member of Acme.'));
    await shown(heading(page, 'My threads'));
    await shown(page.getByText('Globex', { exact: true }));
    await service.skein('member', 'remove', globex, email);
    await follow('Published threads');
    await shown(heading(page, 'Sign in'));
    await window.close();
  });

  it('as another person hides the first one’s data in another tab once it is used or focused', async () => {
    const [fay, gus] = [await member(world.email('fay')), await member(world.email('gus'))];
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
    const cookies = [...gus.cookies].map(([name, value]) => ({ name, value, url: world.service.baseUrl }));
    await window.page.context().addCookies(cookies);
    for (const [index, tab] of tabs.entries()) {
      await uses[index]!(tab);
      await shown(tab.page.getByRole('button', { name: /^Your account: gus@/ }));
      await gone(tab.page.getByText('A secret of Fay'));
      tab.assertFaultless();
    }
    await window.close();
  });
});
