import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { lookAt, sharedBrowser, type Window } from '../../harness/browser/browser.ts';
import { gone, openAs, shown } from '../../harness/browser/people.ts';
import { type SettingsWorld, sharedSettingsWorld } from '../../harness/console/settings-world.ts';
import { assertDone } from '../../harness/console/visitor.ts';
import { Api } from '../../harness/http/api.ts';
import { eventually } from '../../harness/service/eventually.ts';

describe('The request log in the console', () => {
  let world: SettingsWorld;
  let browser: Browser;
  let window: Window;
  let api: Api;
  before(async () => {
    world = await sharedSettingsWorld();
    browser = await sharedBrowser();
    window = await openAs(browser, world.ada.client);
    const { key } = assertDone(await world.ada.post('/keys', { name: 'Laptop', scope: 'personal' }), 201);
    api = new Api(world.service.baseUrl, key);
  });
  after(() => window?.close());

  it('leads from the trace ID of a failed request to its error', async () => {
    const { page } = window;
    await api.list();
    const { body } = await api.call('PATCH', '/threads/thr_nothing', { body: { titel: 'Typo' } });
    const { trace_id: traceId, message } = body.error;
    await eventually(
      async () => assertDone(await world.ada.get(`/requests?traceId=${traceId}`)).requests,
      (requests: unknown[]) => requests.length === 1,
    );
    await page.goto('/settings/requests');
    await shown(page.getByRole('row').filter({ hasText: 'List threads' }));
    await page.getByRole('searchbox', { name: 'Trace ID' }).fill(traceId);
    await gone(page.getByRole('row').filter({ hasText: 'List threads' }));
    const found = page.getByRole('row').filter({ hasText: 'Rename thread' });
    await shown(found.getByText('INVALID_PARAMS'));
    assert.match(page.url(), new RegExp(`trace=${traceId}`));
    await shown(found.getByRole('button', { name: 'Copy trace ID' }));
    await found.getByRole('button', { name: 'Rename thread' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rename thread' });
    assert.deepEqual(JSON.parse(await dialog.getByTestId('envelope').innerText()), {
      error: { code: 'INVALID_PARAMS', message, trace_id: traceId },
    });
    await shown(dialog.getByRole('link', { name: 'Laptop' }));
    await lookAt(page, 'request-details');
    await page.keyboard.press('Escape');
    await gone(dialog);
    await page.getByRole('searchbox', { name: 'Trace ID' }).fill('00000000-0000-0000-0000-000000000000');
    await shown(page.getByText('No request with this trace ID'));
    await shown(page.getByText('Enter the full trace ID.'));
    window.assertFaultless();
  });

  it('stays on the page when it cannot be refreshed, and says so', async () => {
    const { page } = window;
    await api.list();
    const row = page.getByRole('row').filter({ hasText: 'List threads' });
    await page.goto('/settings/requests');
    await shown(row);
    await page.route('**/requests*', (route) => route.fulfill({ status: 400, body: '{}' }));
    await page.getByRole('button', { name: 'Refresh' }).click();
    await shown(page.getByRole('alert').filter({ hasText: 'Couldn’t load requests' }));
    assert.ok(await row.first().isVisible());
    await page.unroute('**/requests*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await gone(page.getByRole('alert'));
    window.assertFaultless();
  });

  it('is filtered by status, operation and credential, and keeps its filters in the URL', async () => {
    const { page } = window;
    await page.goto('/settings/requests');
    const choose = async (name: string, option: string | RegExp) => {
      await page.getByRole('combobox', { name }).click();
      await page.getByRole('option', { name: option }).click();
    };
    await choose('Status', /^4xx/);
    await gone(page.getByRole('row').filter({ hasText: 'List threads' }));
    await shown(page.getByRole('row').filter({ hasText: 'Rename thread' }));
    await choose('Credential', 'Laptop');
    await choose('Operation', 'Get thread');
    await shown(page.getByText('No matching requests'));
    await page.reload();
    await shown(page.getByText('No matching requests'));
    assert.equal(await page.getByRole('combobox', { name: 'Credential' }).inputValue(), 'Laptop');
    await lookAt(page, 'no-matching-requests');
    window.assertFaultless();
  });

  it('is linked from the audit log, and is for admins', async () => {
    const { page } = window;
    const { body } = await api.create({ prompt: 'Delete me' });
    const { headers } = await api.delete(body.thread.id);
    const traceId = headers.get('x-request-id');
    await eventually(
      async () => assertDone(await world.ada.get(`/requests?traceId=${traceId}`)).requests,
      (requests: unknown[]) => requests.length === 1,
    );
    await page.goto('/settings/audit');
    await page
      .getByRole('link', { name: /^[0-9a-f]{8}$/ })
      .first()
      .click();
    await shown(page.getByRole('row').filter({ hasText: 'Delete thread' }));
    assert.match(page.url(), new RegExp(`trace=${traceId}`));
    const ben = await openAs(browser, world.ben.client);
    await ben.page.goto('/settings/requests');
    await shown(ben.page.getByText('This page is for admins'));
    await ben.close();
  });
});
