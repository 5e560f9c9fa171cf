import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { Browser, Locator } from 'playwright-core';
import { Api } from '../api.ts';
import { signedInMember, testPassword } from '../console/console-client.ts';
import { type SettingsWorld, sharedSettingsWorld } from '../console/settings-world.ts';
import { ask, untilEnded } from '../console/thread-calls.ts';
import { assertDone } from '../console/visitor.ts';
import { eventually } from '../eventually.ts';
import { cleanEnvironment } from '../service.ts';
import { lookAt, sharedBrowser, Window } from './browser.ts';
import { countRequests, gone, heading, openAs, shown } from './people.ts';

/** The output of a command that was pasted into a shell. */
async function paste(line: string): Promise<any> {
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { env: cleanEnvironment({}) });
  return JSON.parse(stdout);
}

/** How many lines the text of an element takes. */
function countLines(element: any): number {
  const range = element.ownerDocument.createRange();
  range.selectNodeContents(element);
  return range.getClientRects().length;
}

describe('Settings in the console', () => {
  let world: SettingsWorld;
  let browser: Browser;
  let window: Window;
  before(async () => {
    world = await sharedSettingsWorld();
    browser = await sharedBrowser();
    window = await openAs(browser, world.ada.client);
  });
  after(async () => {
    await window?.close();
  });

  const dialog = () => window.page.getByRole('dialog');
  const button = (name: string, within: Locator = window.page.getByRole('main')) =>
    within.getByRole('button', { name, exact: true });
  const row = (text: string) => window.page.getByRole('row').filter({ hasText: text });
  const as = (key: string) => new Api(world.service.baseUrl, key);

  it('create a personal key that works immediately, is shown once, and stops working when revoked', async () => {
    const { page } = window;
    await page.goto('/settings/keys');
    await shown(page.getByText('No keys yet'));
    await button('Create key').click();
    await dialog().getByLabel('Name').fill('Nightly report');
    await button('Create key', dialog()).click();
    const key = await dialog().getByTestId('secret').innerText();
    assert.match(key, /^eak_\w{30,}$/);
    await lookAt(page, 'key-shown-once');
    const line = await dialog().getByRole('region', { name: 'Command that uses the key' }).innerText();
    const made = await paste(line);
    assert.match(made.thread.id, /^thr_/, line);
    assert.equal((await as(key).get(made.thread.id)).status, 200);
    await button('Done', dialog()).click();
    await gone(dialog());
    assert.ok(!(await page.content()).includes(key), 'it is not shown again');
    const nightly = row('Nightly report');
    await shown(nightly.getByText('Active'));
    for (const text of ['Personal', world.email('ada'), `${key.slice(0, 8)}…${key.slice(-4)}`])
      await shown(nightly.getByText(text));

    await button('Revoke Nightly report').click();
    await shown(dialog().getByText('stops working immediately'));
    await lookAt(page, 'revoke');
    await button('Revoke', dialog()).click();
    await shown(nightly.getByText('Revoked'));
    assert.equal((await as(key).list()).status, 401);
    window.assertFaultless();
  });

  it('create an org-wide key and explain its scope', async () => {
    const { page } = window;
    await page.goto('/settings/keys');
    await button('Create key').click();
    await button('Create key', dialog()).click();
    await shown(dialog().getByText('Enter a name'));
    await dialog().getByLabel('Name').fill('Dashboard');
    await dialog().getByRole('radio', { name: 'Org-wide' }).check();
    await shown(dialog().getByText('can’t change anything'));
    assert.equal(await dialog().getByLabel('Owner').count(), 0);
    await button('Create key', dialog()).click();
    const key = await dialog().getByTestId('secret').innerText();
    const line = await dialog().getByRole('region', { name: 'Command that uses the key' }).innerText();
    assert.ok(Array.isArray((await paste(line)).threads), line);
    assert.equal((await as(key).create({ prompt: 'May I?' })).status, 403);
    await button('Done', dialog()).click();
    await shown(row('Dashboard').getByText('The organization'));
    window.assertFaultless();
  });

  it('rotate a key: the new one is shown once, and the old one works until it expires', async () => {
    const { page } = window;
    const old = assertDone(await world.ada.post('/keys', { name: 'Rotating', scope: 'personal' }), 201);
    await page.goto('/settings/keys');
    const boxes = await Promise.all(
      ['Rotate', 'Revoke'].map((action) => button(`${action} Rotating`).boundingBox()),
    );
    assert.equal(boxes[0]!.y, boxes[1]!.y, 'the buttons of a row are side by side');
    await button('Rotate Rotating').click();
    await lookAt(page, 'rotate-key');
    await dialog().getByLabel('Revoke the old key').first().click();
    await page.getByRole('option', { name: 'In 1 hour' }).click();
    await button('Rotate key', dialog()).click();
    const key = await dialog().getByTestId('secret').innerText();
    await button('Done', dialog()).click();
    await shown(row('Rotating').filter({ hasText: 'Valid until' }));
    await lookAt(page, 'rotated-key');
    for (const one of [key, old.key]) assert.equal((await as(one).list()).status, 200);
    window.assertFaultless();
  });

  it('let a member request a key, an admin approve it, and the member alone see it', async () => {
    const ben = await openAs(browser, world.ben.client);
    const { page } = ben;
    await page.goto('/settings/keys');
    await page.getByRole('button', { name: 'Request key' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Request key' }).click();
    await shown(page.getByText('Enter a name'));
    await page.getByRole('dialog').getByLabel('Name').fill('Bens laptop');
    await lookAt(page, 'request-key');
    await page.getByRole('dialog').getByRole('button', { name: 'Request key' }).click();
    await shown(page.getByText('Waiting for an admin'));

    await window.page.goto('/settings/keys');
    await shown(window.page.getByText('Bens laptop'));
    await lookAt(window.page, 'key-requests');
    const approvals = countRequests(window.page, '/approve');
    await button('Approve Bens laptop').dblclick();
    await shown(window.page.getByText('Approved, not revealed yet'));
    assert.equal(approvals(), 1);
    assert.equal(await window.page.getByRole('button', { name: 'Reveal Bens laptop' }).count(), 0);

    await page.reload();
    await page.getByRole('button', { name: 'Reveal Bens laptop' }).click();
    await lookAt(page, 'reveal-key');
    const reveals = countRequests(page, '/reveal');
    await page.getByRole('dialog').getByRole('button', { name: 'Reveal key' }).dblclick();
    const key = await page.getByRole('dialog').getByTestId('secret').innerText();
    assert.equal(reveals(), 1);
    await lookAt(page, 'revealed-key');
    assert.equal((await as(key).list()).status, 200);
    await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click();
    await shown(page.getByRole('row').filter({ hasText: 'Bens laptop' }).getByText('Active'));
    assert.ok(!(await page.content()).includes(key), 'it is not shown again');
    ben.assertFaultless();
    window.assertFaultless();
    await ben.close();
  });

  it('create an application whose tokens stop working when its secret is rotated, and delete it', async () => {
    const { page } = window;
    await page.goto('/settings/applications');
    await shown(page.getByText('No applications yet'));
    await button('Create application').click();
    await dialog().getByLabel('Name').fill('Warehouse');
    await button('Create application', dialog()).click();
    const command = () => dialog().getByRole('region', { name: 'Command to get a token' }).innerText();
    const { access_token: token } = await paste(await command());
    assert.equal((await as(token).list()).status, 200);
    await button('Done', dialog()).click();

    await button('Rotate secret for Warehouse').click();
    await shown(dialog().getByText('all tokens stop working immediately'));
    const rotations = countRequests(page, '/rotate');
    await button('Rotate secret', dialog()).dblclick();
    await shown(dialog().getByText('Client credentials'));
    assert.equal(rotations(), 1);
    await lookAt(page, 'client-credentials');
    assert.equal((await as(token).list()).status, 401);
    const { access_token: next } = await paste(await command());
    assert.equal((await as(next).list()).status, 200);
    await button('Done', dialog()).click();

    await page.getByRole('searchbox', { name: 'Filter applications' }).fill('ware');
    await button('Delete Warehouse').click();
    await button('Delete', dialog()).press('Enter');
    await shown(page.getByText('No applications yet'));
    await shown(button('Create application').and(page.locator(':focus')));
    assert.equal((await as(next).list()).status, 401);
    window.assertFaultless();
  });

  it('invite a person, who joins through the link, gets a role, and is removed with their keys', async () => {
    const { page } = window;
    await page.goto('/settings/members');
    await button('Add member').click();
    await dialog().getByLabel('Email address').fill(world.email('dora'));
    await button('Add and create link', dialog()).click();
    await lookAt(page, 'invitation-link');
    await button('Done', dialog()).click();
    const dora = row(world.email('dora'));
    await shown(dora.getByText('Invited'));
    const links = countRequests(page, '/invitation');
    await button(`New link for ${world.email('dora')}`).dblclick();
    const link = await dialog().getByTestId('secret').innerText();
    assert.equal(links(), 1);
    await button('Done', dialog()).click();
    await shown(page.getByRole('columnheader', { name: 'Added' }));

    const guest = await Window.open(browser, world.service.baseUrl);
    await guest.page.goto(link);
    await guest.page.getByLabel('New password').fill(testPassword);
    await guest.page.getByRole('button', { name: 'Set password and join' }).click();
    await shown(heading(guest.page, 'My threads'));
    assert.equal(await guest.page.getByRole('link', { name: 'Members' }).count(), 0);

    await page.reload();
    await shown(dora.getByText('Active'));
    await dora.getByRole('combobox', { name: `Role of ${world.email('dora')}` }).click();
    await page.getByRole('option', { name: 'Admin' }).click();
    await eventually(
      async () => {
        await guest.page.reload();
        await shown(heading(guest.page, 'My threads'));
        return guest.page.getByRole('link', { name: 'Members' }).count();
      },
      (count) => count === 1,
    );

    const { key } = await world.service.skein(
      ...['key', 'create', world.acme, '--user', world.email('dora'), '--name', 'Dora’s laptop'],
    );
    await page.reload();
    await shown(button('Leave Acme'));
    await button(`Remove ${world.email('dora')}`).click();
    await shown(dialog().getByText('This personal key will be revoked:'));
    await shown(dialog().getByText('Dora’s laptop'));
    await lookAt(page, 'remove-member');
    await button('Remove', dialog()).click();
    await gone(dora);
    assert.equal((await as(key).list()).status, 401);
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
    window.assertFaultless();
  });

  it('create one link at a time, so that each is shown', async () => {
    const emails = [world.email('olga'), world.email('paul')];
    const ids: string[] = [];
    for (const email of emails) {
      const body = { email, role: 'member', service: false };
      ids.push(assertDone(await world.ada.post('/members', body), 201).id);
    }
    const { page } = window;
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
    for (const id of ids) assertDone(await world.ada.delete(`/members/${id}`));
    window.assertFaultless();
  });

  it('create no link that would open the threads a person already has', async () => {
    const { service, acme } = world;
    const email = world.email('lea');
    const body = { email, role: 'member', service: false };
    const { id, link } = assertDone(await world.ada.post('/members', body), 201);
    const { key } = await service.skein('key', 'create', acme, '--user', email);
    assert.equal((await as(key).create({ prompt: 'Between us' })).status, 201);
    const { page } = window;
    await page.goto('/settings/members');
    await button(`New link for ${email}`).click();
    const refusal = page.getByRole('alert').filter({ hasText: 'Couldn’t create a link' });
    await shown(refusal.getByText(/already has threads or an API key here.*Ask the operator/));
    await lookAt(page, 'link-refused');

    const guest = await Window.open(browser, service.baseUrl);
    await guest.page.goto(link);
    await shown(guest.page.getByText(/already has threads or an API key in Acme\..*Ask the operator/));
    assert.equal(await guest.page.getByRole('button').count(), 0);
    await lookAt(guest.page, 'invitation-refused');
    await guest.close();

    assertDone(await world.ada.delete(`/members/${id}`));
    await page.reload();
    await button('Add member').click();
    await dialog().getByLabel('Email address').fill(email);
    await button('Add and create link', dialog()).click();
    await shown(dialog().getByText(/threads here from an earlier membership\. Ask the operator/));
    await button('Cancel', dialog()).click();
    window.assertFaultless();
  });

  it('show who did what, and find it by the trace ID of a failure', async () => {
    const { page } = window;
    for (const name of ['Of the log', 'A-name-without-spaces-'.repeat(4)])
      assertDone(await world.ada.post('/keys', { name, scope: 'org-wide' }), 201);
    const { thread } = await ask(world.ada, '#fail');
    const { traceId } = (await untilEnded(world.ada, thread.id)).messages.at(-1);
    await page.goto('/settings/audit');
    await shown(
      row('Created an API key')
        .filter({ hasText: 'Of the log' })
        .getByText(/Org-wide key$/),
    );
    const action = row('Of the log').getByText('Created an API key', { exact: true });
    assert.equal(await action.evaluate(countLines), 1, 'a long name leaves room for the other columns');
    assert.equal(await row('Created an API key').getByTitle('Find the API request').count(), 0);
    const all = await page.getByRole('row').count();
    await page.getByRole('searchbox', { name: 'Trace ID' }).fill(traceId);
    await eventually(
      () => page.getByRole('row').count(),
      (count) => count === 2 && count < all,
    );
    await shown(row('Reply failed').filter({ hasText: `Thread …${thread.id.slice(-6)}` }));
    assert.equal(await page.getByTitle('Find the API request').count(), 0, 'the console asked for it');
    const { key } = assertDone(
      await world.ada.post('/keys', { name: 'Of a failure', scope: 'personal' }),
      201,
    );
    const { headers } = await as(key).create({ prompt: '#fail' });
    const apiTraceId = headers.get('x-request-id')!;
    await eventually(
      async () => assertDone(await world.ada.get(`/audit?traceId=${apiTraceId}`)).events,
      ([event]) => event?.isLogged === true,
    );
    await page.getByRole('searchbox', { name: 'Trace ID' }).fill(apiTraceId);
    await shown(page.getByRole('link', { name: apiTraceId.slice(-8) }));
    await page.getByRole('searchbox', { name: 'Trace ID' }).fill('00000000-0000-0000-0000-000000000000');
    await shown(page.getByText('No entries with this trace ID'));

    await page.goto('/settings/audit');
    await page.getByRole('combobox', { name: 'Action' }).click();
    await page.getByRole('option', { name: 'Created an API key' }).click();
    await page.getByRole('combobox', { name: 'Actor' }).click();
    await page.getByRole('option', { name: world.email('ada') }).click();
    await shown(row('Created an API key').getByRole('link', { name: 'Of the log' }));
    await gone(row('Signed in'));
    await lookAt(page, 'audit-filtered');
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export CSV' }).click();
    const file = readFileSync(await (await downloading).path(), 'utf8');
    assert.match(file, /"key\.created","key_\w+","Of the log"/);
    assert.doesNotMatch(file, /session\.started/);
    window.assertFaultless();
  });

  it('show members their own data and explain that other pages are for admins', async () => {
    const ben = await openAs(browser, world.ben.client);
    await ben.page.goto('/settings/keys');
    await shown(ben.page.getByText('Your personal keys'));
    assert.equal(await ben.page.getByRole('button', { name: 'Create key' }).count(), 0);
    assert.equal(await ben.page.getByText('Dashboard').count(), 0, 'nor keys of others');
    const leftOut = ben.page.getByText('Earlier days are left out');
    await ben.page.goto('/settings/usage');
    await shown(ben.page.getByText('Today’s quota'));
    await gone(leftOut);
    await ben.page.route('**/console/**/usage*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), isCut: true } });
    });
    await ben.page.reload();
    await shown(leftOut);
    await ben.page.goto('/settings/documents');
    await shown(heading(ben.page, 'Documents'));
    assert.equal(await ben.page.getByLabel('Add files').count(), 0);
    for (const path of ['applications', 'members', 'audit', 'Members', 'model/']) {
      await ben.page.goto(`/settings/${path}`);
      await shown(ben.page.getByText('This page is for admins'));
    }
    await lookAt(ben.page, 'admins-only');
    await ben.close();
  });

  it('tell an organization without the public API that it has no credentials', async () => {
    await world.service.skein('org', 'create', 'Quiet Corp', '--api', 'off');
    const client = await signedInMember(world.service, 'Quiet Corp', 'quin@quiet.example', 'admin');
    const quin = await openAs(browser, client);
    for (const path of ['keys', 'applications', 'usage']) {
      await quin.page.goto(`/settings/${path}`);
      await shown(quin.page.getByText('The public API is not enabled'));
      assert.equal(await quin.page.getByRole('button', { name: /^Create/ }).count(), 0);
    }
    await lookAt(quin.page, 'without-api');
    await quin.page.goto('/new');
    await quin.page.getByLabel('Your question').fill('Does the rest work?');
    await quin.page.keyboard.press('Enter');
    await shown(quin.page.getByText('You asked: Does the rest work?'));
    await quin.close();
  });
});
