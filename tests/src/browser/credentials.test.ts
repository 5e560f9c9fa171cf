import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { lookAt, sharedBrowser } from '../../harness/browser/browser.ts';
import { countRequests, gone, openAs, shown } from '../../harness/browser/people.ts';
import { assertDone } from '../../harness/console/visitor.ts';
import { cleanEnvironment } from '../../harness/service/service.ts';
import { openSettingsWindow } from './settings-window.ts';

/** The output of a command that was pasted into a shell. */
async function paste(line: string): Promise<any> {
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { env: cleanEnvironment({}) });
  return JSON.parse(stdout);
}

describe('Settings of keys and applications in the console', () => {
  const { world, window, dialog, button, row, api } = openSettingsWindow();

  it('create a personal key that works immediately, is shown once, and stops working when revoked', async () => {
    const { page } = window();
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
    assert.equal((await api(key).get(made.thread.id)).status, 200);
    await button('Done', dialog()).click();
    await gone(dialog());
    assert.ok(!(await page.content()).includes(key), 'it is not shown again');
    const nightly = row('Nightly report');
    await shown(nightly.getByText('Active'));
    for (const text of ['Personal', world().email('ada'), `${key.slice(0, 8)}…${key.slice(-4)}`])
      await shown(nightly.getByText(text));

    await button('Revoke Nightly report').click();
    await shown(dialog().getByText('stops working immediately'));
    await lookAt(page, 'revoke');
    await button('Revoke', dialog()).click();
    await shown(nightly.getByText('Revoked'));
    assert.equal((await api(key).list()).status, 401);
    window().assertFaultless();
  });

  it('create an org-wide key and explain its scope', async () => {
    const { page } = window();
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
    assert.equal((await api(key).create({ prompt: 'May I?' })).status, 403);
    await button('Done', dialog()).click();
    await shown(row('Dashboard').getByText('The organization'));
    window().assertFaultless();
  });

  it('rotate a key: the new one is shown once, and the old one works until it expires', async () => {
    const { page } = window();
    const old = assertDone(await world().ada.post('/keys', { name: 'Rotating', scope: 'personal' }), 201);
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
    for (const one of [key, old.key]) assert.equal((await api(one).list()).status, 200);
    window().assertFaultless();
  });

  it('let a member request a key, an admin approve it, and the member alone see it', async () => {
    const ben = await openAs(await sharedBrowser(), world().ben.client);
    const { page } = ben;
    await page.goto('/settings/keys');
    await page.getByRole('button', { name: 'Request key' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Request key' }).click();
    await shown(page.getByText('Enter a name'));
    await page.getByRole('dialog').getByLabel('Name').fill('Bens laptop');
    await lookAt(page, 'request-key');
    await page.getByRole('dialog').getByRole('button', { name: 'Request key' }).click();
    await shown(page.getByText('Waiting for an admin'));

    await window().page.goto('/settings/keys');
    await shown(window().page.getByText('Bens laptop'));
    await lookAt(window().page, 'key-requests');
    const approvals = countRequests(window().page, '/approve');
    await button('Approve Bens laptop').dblclick();
    await shown(window().page.getByText('Approved, not revealed yet'));
    assert.equal(approvals(), 1);
    assert.equal(await window().page.getByRole('button', { name: 'Reveal Bens laptop' }).count(), 0);

    await page.reload();
    await page.getByRole('button', { name: 'Reveal Bens laptop' }).click();
    await lookAt(page, 'reveal-key');
    const reveals = countRequests(page, '/reveal');
    await page.getByRole('dialog').getByRole('button', { name: 'Reveal key' }).dblclick();
    const key = await page.getByRole('dialog').getByTestId('secret').innerText();
    assert.equal(reveals(), 1);
    await lookAt(page, 'revealed-key');
    assert.equal((await api(key).list()).status, 200);
    await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click();
    await shown(page.getByRole('row').filter({ hasText: 'Bens laptop' }).getByText('Active'));
    assert.ok(!(await page.content()).includes(key), 'it is not shown again');
    ben.assertFaultless();
    window().assertFaultless();
    await ben.close();
  });

  it('create an application whose tokens stop working when its secret is rotated, and delete it', async () => {
    const { page } = window();
    await page.goto('/settings/applications');
    await shown(page.getByText('No applications yet'));
    await button('Create application').click();
    await dialog().getByLabel('Name').fill('Warehouse');
    await button('Create application', dialog()).click();
    const command = () => dialog().getByRole('region', { name: 'Command to get a token' }).innerText();
    const { access_token: token } = await paste(await command());
    assert.equal((await api(token).list()).status, 200);
    await button('Done', dialog()).click();

    await button('Rotate secret for Warehouse').click();
    await shown(dialog().getByText('all tokens stop working immediately'));
    const rotations = countRequests(page, '/rotate');
    await button('Rotate secret', dialog()).dblclick();
    await shown(dialog().getByText('Client credentials'));
    assert.equal(rotations(), 1);
    await lookAt(page, 'client-credentials');
    assert.equal((await api(token).list()).status, 401);
    const { access_token: next } = await paste(await command());
    assert.equal((await api(next).list()).status, 200);
    await button('Done', dialog()).click();

    await page.getByRole('searchbox', { name: 'Filter applications' }).fill('ware');
    await button('Delete Warehouse').click();
    await button('Delete', dialog()).press('Enter');
    await shown(page.getByText('No applications yet'));
    await shown(button('Create application').and(page.locator(':focus')));
    assert.equal((await api(next).list()).status, 401);
    window().assertFaultless();
  });
});
