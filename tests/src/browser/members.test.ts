import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lookAt, sharedBrowser, Window } from '../../harness/browser/browser.ts';
import { countRequests, gone, heading, shown } from '../../harness/browser/people.ts';
import { testPassword } from '../../harness/console/console-client.ts';
import { assertDone } from '../../harness/console/visitor.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { openSettingsWindow } from './settings-window.ts';

describe('Settings of members in the console', () => {
  const { world, window, dialog, button, row, api } = openSettingsWindow();

  it('invite a person, who joins through the link, gets a role, and is removed with their keys', async () => {
    const { page } = window();
    await page.goto('/settings/members');
    await button('Add member').click();
    await dialog().getByLabel('Email address').fill(world().email('dora'));
    await button('Add and create link', dialog()).click();
    await lookAt(page, 'invitation-link');
    await button('Done', dialog()).click();
    const dora = row(world().email('dora'));
    await shown(dora.getByText('Invited'));
    const links = countRequests(page, '/invitation');
    await button(`New link for ${world().email('dora')}`).dblclick();
    const link = await dialog().getByTestId('secret').innerText();
    assert.equal(links(), 1);
    await button('Done', dialog()).click();
    await shown(page.getByRole('columnheader', { name: 'Added' }));

    const guest = await Window.open(await sharedBrowser(), world().service.baseUrl);
    await guest.page.goto(link);
    await guest.page.getByLabel('New password').fill(testPassword);
    await guest.page.getByRole('button', { name: 'Set password and join' }).click();
    await shown(heading(guest.page, 'My threads'));
    assert.equal(await guest.page.getByRole('link', { name: 'Members' }).count(), 0);

    await page.reload();
    await shown(dora.getByText('Active'));
    await dora.getByRole('combobox', { name: `Role of ${world().email('dora')}` }).click();
    await page.getByRole('option', { name: 'Admin' }).click();
    await eventually(
      async () => {
        await guest.page.reload();
        await shown(heading(guest.page, 'My threads'));
        return guest.page.getByRole('link', { name: 'Members' }).count();
      },
      (count) => count === 1,
    );

    const { key } = await world().service.skein(
      ...['key', 'create', world().acme, '--user', world().email('dora'), '--name', 'Dora’s laptop'],
    );
    await page.reload();
    await shown(button('Leave Acme'));
    await button(`Remove ${world().email('dora')}`).click();
    await shown(dialog().getByText('This personal key will be revoked:'));
    await shown(dialog().getByText('Dora’s laptop'));
    await lookAt(page, 'remove-member');
    await button('Remove', dialog()).click();
    await gone(dora);
    assert.equal((await api(key).list()).status, 401);
    await button('Leave Acme').click();
    await shown(dialog().getByText('if you rejoin'));
    await button('Leave', dialog()).click();
    const refusal = dialog().getByRole('alert').filter({ hasText: 'Couldn’t leave' });
    await shown(refusal.getByText('make another member an admin first'));
    await button('Cancel', dialog()).click();
    await gone(dialog());
    await guest.page.reload();
    await shown(heading(guest.page, 'Sign in'));
    await guest.close();
    window().assertFaultless();
  });

  it('create one link at a time, so that each is shown', async () => {
    const emails = [world().email('olga'), world().email('paul')];
    const ids: string[] = [];
    for (const email of emails) {
      const body = { email, role: 'member', service: false };
      ids.push(assertDone(await world().ada.post('/members', body), 201).id);
    }
    const { page } = window();
    await page.goto('/settings/members');
    const buttons = emails.map((email) => button(`New link for ${email}`));
    for (const each of buttons) await shown(each);
    const links = countRequests(page, '/invitation');
    await page.evaluate(
      (names) => {
        for (const name of names)
          (globalThis as any).document.querySelector(`[aria-label="${name}"]`).click();
      },
      emails.map((email) => `New link for ${email}`),
    );
    await shown(dialog().getByRole('heading', { name: `Invitation for ${emails[0]}` }));
    await button('Done', dialog()).click();
    assert.equal(links(), 1);
    await buttons[1]!.click();
    await shown(dialog().getByRole('heading', { name: `Invitation for ${emails[1]}` }));
    await button('Done', dialog()).click();
    for (const id of ids) assertDone(await world().ada.delete(`/members/${id}`));
    window().assertFaultless();
  });

  it('create no link that would open the threads a person already has', async () => {
    const { service, acme } = world();
    const email = world().email('lea');
    const body = { email, role: 'member', service: false };
    const { id, link } = assertDone(await world().ada.post('/members', body), 201);
    const { key } = await service.skein('key', 'create', acme, '--user', email);
    assert.equal((await api(key).create({ prompt: 'Between us' })).status, 201);
    const { page } = window();
    await page.goto('/settings/members');
    await button(`New link for ${email}`).click();
    const refusal = page.getByRole('alert').filter({ hasText: 'Couldn’t create a link' });
    await shown(refusal.getByText(/already has threads or an API key here.*Ask the operator/));
    await lookAt(page, 'link-refused');

    const guest = await Window.open(await sharedBrowser(), service.baseUrl);
    await guest.page.goto(link);
    await shown(guest.page.getByText(/already has threads or an API key in Acme\..*Ask the operator/));
    assert.equal(await guest.page.getByRole('button').count(), 0);
    await lookAt(guest.page, 'invitation-refused');
    await guest.close();

    assertDone(await world().ada.delete(`/members/${id}`));
    await page.reload();
    await button('Add member').click();
    await dialog().getByLabel('Email address').fill(email);
    await button('Add and create link', dialog()).click();
    await shown(dialog().getByText(/threads here from an earlier membership\. Ask the operator/));
    await button('Cancel', dialog()).click();
    window().assertFaultless();
  });
});
