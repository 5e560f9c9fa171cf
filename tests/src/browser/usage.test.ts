import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { lookAt, sharedBrowser } from '../../harness/browser/browser.ts';
import { gone, heading, openAs, shown } from '../../harness/browser/people.ts';
import { type SettingsWorld, sharedSettingsWorld } from '../../harness/console/settings-world.ts';
import { Api } from '../../harness/http/api.ts';
import { eventually } from '../../harness/service/eventually.ts';

describe('The usage page', () => {
  let world: SettingsWorld;
  let browser: Browser;
  let api: Api;
  before(async () => {
    world = await sharedSettingsWorld();
    browser = await sharedBrowser();
    const { key } = await world.service.skein(
      'key',
      'create',
      world.globex,
      '--org-wide',
      '--name',
      'period',
    );
    api = new Api(world.service.baseUrl, key);
    for (let turn = 0; turn < 3; turn += 1) assert.equal((await api.list()).status, 200);
    assert.equal((await api.get('thr_nothing')).status, 404);
  });

  it('counts requests by outcome, operation and credential', async () => {
    const eve = await openAs(browser, world.eve.client);
    const requests = eve.page.getByRole('region', { name: 'Requests', exact: true });
    await eventually(
      async () => {
        await eve.page.goto('/settings/usage');
        await shown(heading(eve.page, 'Usage'));
        await shown(eve.page.getByText('4 of 10,000 requests used, 9,996 left'));
        return requests.getByRole('row').filter({ hasText: 'NOT_FOUND' }).count();
      },
      (count) => count === 1,
    );
    await shown(eve.page.getByText(/Resets in .*, at midnight UTC/));
    await requests.getByText('Credential', { exact: true }).click();
    await shown(requests.getByRole('row').filter({ hasText: /period\s*4\s*4\s*100%/ }));
    const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' });
    await shown(requests.getByText(day.format(new Date()), { exact: true }));
    await requests.getByText('Operation', { exact: true }).click();
    await shown(requests.getByRole('row').filter({ hasText: /list.*3/i }));
    const latency = eve.page.getByRole('region', { name: 'Latency by operation' });
    await shown(latency.getByRole('row').filter({ hasText: /List threads\s*3\s*0%/ }));
    await eve.page.getByText('24 hours', { exact: true }).click();
    await shown(requests.getByRole('columnheader', { name: 'This hour' }));
    await gone(requests.getByText('Credential', { exact: true }));
    await lookAt(eve.page, 'usage-day');
    const errors = eve.page.getByRole('region', { name: 'Errors by code' });
    await errors.getByRole('link', { name: 'NOT_FOUND' }).click();
    await shown(eve.page.getByRole('row').filter({ hasText: 'Get thread' }));
    await gone(eve.page.getByRole('row').filter({ hasText: 'List threads' }));
    assert.equal(new URL(eve.page.url()).searchParams.get('status'), 'NOT_FOUND');
    assert.equal((await api.list({ limit: 0 })).status, 400);
    await eve.page.setViewportSize({ width: 360, height: 740 });
    const invalid = requests.getByRole('cell', { name: 'INVALID_PARAMS' });
    await eventually(
      async () => {
        await eve.page.goto('/settings/usage');
        await shown(heading(eve.page, 'Usage'));
        await shown(requests.getByRole('cell', { name: 'NOT_FOUND' }));
        return invalid.count();
      },
      (count) => count === 1,
    );
    const linesOfWords = await invalid.evaluate((cell: any) =>
      [...cell.childNodes]
        .filter((node) => node.nodeType === 3)
        .map((word) => {
          const range = cell.ownerDocument.createRange();
          range.selectNodeContents(word);
          return range.getClientRects().length;
        }),
    );
    assert.deepEqual(linesOfWords, [1, 1], 'no word is broken on a phone');
    await eve.close();
  });

  it('is in English in every browser, with the clock of its language', async () => {
    for (const [locale, time] of [
      ['de-DE', /^\d\d:00$/],
      ['ar-EG', /^\d{1,2}:00\s[AP]M$/],
      ['en-US', /^\d{1,2}:00\s[AP]M$/],
    ] as const) {
      const eve = await openAs(browser, world.eve.client, { locale });
      const requests = eve.page.getByRole('region', { name: 'Requests', exact: true });
      await eventually(
        async () => {
          await eve.page.goto('/settings/usage?range=24h');
          await shown(eve.page.getByText(/ of 10,000 requests used/));
          return requests.getByRole('row').count();
        },
        (count) => count > 0,
      );
      await shown(requests.getByText(time));
      await eve.page.getByText('7 days', { exact: true }).click();
      await shown(requests.getByText(/^[A-Z][a-z]{2} \d{1,2}$/));
      await eve.close();
    }
  });
});
