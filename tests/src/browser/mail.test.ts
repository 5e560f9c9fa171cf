import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { lookAt, sharedBrowser, Window } from '../../harness/browser/browser.ts';
import { heading, openAs, shown } from '../../harness/browser/people.ts';
import { testPassword } from '../../harness/console/console-client.ts';
import { type SettingsWorld, startSettingsWorld } from '../../harness/console/settings-world.ts';
import { assertDone } from '../../harness/console/visitor.ts';
import { MailServer } from '../../harness/service/mail-server.ts';

describe('Members, with a mail server', () => {
  let browser: Browser;
  let server: MailServer;
  let world: SettingsWorld;
  before(async () => {
    server = await MailServer.start();
    browser = await sharedBrowser();
    world = await startSettingsWorld(server.environment());
  });
  after(async () => {
    await world?.end();
    await server?.close();
  });

  it('invites a person, who joins through the link in the email, and shows what was not delivered', async () => {
    const [dora, nobody] = [world.email('dora'), world.email('nobody')];
    server.answer = (recipient) => (recipient === nobody ? 550 : 'accept');
    const window = await openAs(browser, world.ada.client);
    const { page } = window;
    const dialog = page.getByRole('dialog');
    const row = (email: string) => page.getByRole('row').filter({ hasText: email });
    const invite = async (email: string) => {
      await page.getByRole('button', { name: 'Add member' }).click();
      await dialog.getByLabel('Email address').fill(email);
      await dialog.getByRole('button', { name: 'Add and send invitation' }).click();
      await shown(page.getByRole('dialog', { name: `Invitation for ${email}` }));
    };
    await page.goto('/settings/members');
    await invite(dora);
    assert.equal(await dialog.getByTestId('secret').count(), 0, 'the admin does not see the link');
    await lookAt(page, 'invitation-sent');
    await page.setViewportSize({ width: 390, height: 844 });
    await lookAt(page, 'invitation-sent', 'phone');
    await page.setViewportSize({ width: 1280, height: 720 });
    await dialog.getByRole('button', { name: 'Done' }).click();
    await shown(row(dora).getByText('Invited'));
    await shown(row(dora).getByRole('button', { name: `Resend to ${dora}` }));

    const guest = await Window.open(browser, world.service.baseUrl);
    await guest.page.goto((await server.mailTo(dora)).link);
    await guest.page.getByLabel('New password').fill(testPassword);
    await guest.page.getByRole('button', { name: 'Set password and join' }).click();
    await shown(heading(guest.page, 'My threads'));
    await guest.close();

    await invite(nobody);
    await dialog.getByRole('button', { name: 'Done' }).click();
    const failed = row(nobody).getByText('Not delivered');
    while (!(await failed.isVisible())) {
      await page.reload();
      await shown(row(nobody));
    }
    await lookAt(page, 'members-not-delivered');

    const { members } = assertDone(await world.ada.get('/members'));
    const { id } = members.find((member: any) => member.email === nobody);
    for (let count = 2; count <= 5; count += 1) {
      assertDone(await world.ada.post(`/members/${id}/invitation`), 201);
    }
    await row(nobody)
      .getByRole('button', { name: `Resend to ${nobody}` })
      .click();
    await shown(page.getByRole('alert').filter({ hasText: 'Couldn’t send the invitation' }));
    await window.close();
  });

  it('sends a person who forgot their password a link, with which they choose a new one', async () => {
    server.answer = () => 'accept';
    const email = world.email('greta');
    await world.ada.post('/members', { email, role: 'member', service: false });
    const window = await Window.open(browser, world.service.baseUrl);
    const { page } = window;
    await page.goto((await server.mailTo(email)).link);
    await page.getByLabel('New password').fill(testPassword);
    await page.getByRole('button', { name: 'Set password and join' }).click();
    await shown(heading(page, 'My threads'));
    await page.context().clearCookies();

    await page.goto('/sign-in');
    await page.getByRole('link', { name: 'Forgot password?' }).click();
    await shown(heading(page, 'Forgot your password?'));
    await lookAt(page, 'forgot-password');
    await page.getByLabel('Email').fill(email);
    await page.getByRole('button', { name: 'Send link' }).click();
    await shown(page.getByText('If the address belongs to an account, we’ve sent a link.'));
    await lookAt(page, 'password-link-sent');

    const { link } = await server.mailTo(email, 2);
    await page.goto(link);
    await shown(heading(page, 'Choose a new password'));
    await lookAt(page, 'new-password');
    await page.getByLabel('New password').fill('a quite different harbour');
    await page.getByRole('button', { name: 'Set password' }).click();
    await shown(heading(page, 'My threads'));
    await page.goto('/sign-in');
    await page.goto(link);
    await shown(heading(page, 'This link is no longer valid'));
    await lookAt(page, 'used-password-link');
    await page.getByRole('link', { name: 'request a new link' }).click();
    await shown(heading(page, 'Forgot your password?'));
    await window.close();
  });
});
