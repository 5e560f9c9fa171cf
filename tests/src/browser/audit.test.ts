import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { lookAt } from '../../harness/browser/browser.ts';
import { gone, shown } from '../../harness/browser/people.ts';
import { ask, untilEnded } from '../../harness/console/thread-calls.ts';
import { assertDone } from '../../harness/console/visitor.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { openSettingsWindow } from './settings-window.ts';

/** How many lines the text of an element takes. */
function countLines(element: any): number {
  const range = element.ownerDocument.createRange();
  range.selectNodeContents(element);
  return range.getClientRects().length;
}

describe('The entries of the audit log in the console', () => {
  const { world, window, row, api } = openSettingsWindow();

  it('show who did what, and find it by the trace ID of a failure', async () => {
    const { page } = window();
    for (const name of ['Of the log', 'A-name-without-spaces-'.repeat(4)])
      assertDone(await world().ada.post('/keys', { name, scope: 'org-wide' }), 201);
    const { thread } = await ask(world().ada, '#fail');
    const { traceId } = (await untilEnded(world().ada, thread.id)).messages.at(-1);
    await page.goto('/settings/audit');
    await shown(
      row('Created an API key')
        .filter({ hasText: 'Of the log' })
        .getByText(/Org-wide key$/),
    );
    const action = row('Of the log').getByText('Created an API key', { exact: true });
    assert.equal(await action.evaluate(countLines), 1, 'a long name leaves room for the other columns');
    assert.equal(await row('Created an API key').getByTitle('Find the API request').count(), 0);
    await shown(row('Signed in'));
    const all = await page.getByRole('row').count();
    await page.getByRole('searchbox', { name: 'Trace ID' }).fill(traceId);
    await eventually(
      () => page.getByRole('row').count(),
      (count) => count === 2 && count < all,
    );
    await shown(row('Reply failed').filter({ hasText: `Thread …${thread.id.slice(-6)}` }));
    assert.equal(await page.getByTitle('Find the API request').count(), 0, 'the console asked for it');
    const { key } = assertDone(
      await world().ada.post('/keys', { name: 'Of a failure', scope: 'personal' }),
      201,
    );
    const { headers } = await api(key).create({ prompt: '#fail' });
    const apiTraceId = headers.get('x-request-id')!;
    await eventually(
      async () => assertDone(await world().ada.get(`/audit?traceId=${apiTraceId}`)).events,
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
    await page.getByRole('option', { name: world().email('ada') }).click();
    await shown(row('Created an API key').getByRole('link', { name: 'Of the log' }));
    await gone(row('Signed in'));
    await lookAt(page, 'audit-filtered');
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export CSV' }).click();
    const file = readFileSync(await (await downloading).path(), 'utf8');
    assert.match(file, /"key\.created","key_\w+","Of the log"/);
    assert.doesNotMatch(file, /session\.started/);
    window().assertFaultless();
  });
});
