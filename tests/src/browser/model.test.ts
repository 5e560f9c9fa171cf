import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { lookAt, sharedBrowser, type Window } from '../../harness/browser/browser.ts';
import { heading, openAs, shown, untilAnnounced } from '../../harness/browser/people.ts';
import { signedInMember } from '../../harness/console/console-client.ts';
import { type ModelServer, startModelServer } from '../../harness/service/model-server.ts';
import type { Service } from '../../harness/service/service.ts';
import { startWithoutDemo } from '../../harness/service/shared-service.ts';

const apiKey = 'secret-key-of-the-provider';

describe('The page about the model', () => {
  let provider: ModelServer;
  let service: Service;
  let browser: Browser;
  let window: Window;
  before(async () => {
    provider = await startModelServer();
    const environment = {
      SKEIN_MODEL: 'openai-compatible/loom',
      SKEIN_MODEL_BASE_URL: provider.url,
      SKEIN_MODEL_API_KEY: apiKey,
    };
    service = await startWithoutDemo(environment);
    browser = await sharedBrowser();
    window = await openAs(browser, await signedInMember(service, 'First', 'ada@first.example', 'admin'));
  });
  after(async () => {
    await window?.close();
    await service?.end();
    await provider?.close();
  });

  async function lookAtEveryWidth(name: string): Promise<void> {
    const { page } = window;
    for (const [size, width] of [
      ['phone', 360],
      ['tablet', 768],
      ['wide', 1280],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await lookAt(page, name, size);
    }
    assert.ok(!(await page.content()).includes(apiKey), 'the key is not shown');
    window.assertFaultless();
  }

  it('shows the provider and the model, and tests the provider on demand', async () => {
    const { page } = window;
    await page.goto('/');
    await page.getByRole('link', { name: 'Model', exact: true }).click();
    await shown(heading(page, 'Model'));
    await shown(page.getByText('Provider: openai-compatible'));
    await shown(page.getByText('Model: loom'));
    await page.getByRole('button', { name: 'Test the model' }).click();
    await shown(page.getByText('The model answered').last());
    await shown(page.getByText(/^First text after [\d.]+ m?s, complete after [\d.]+ m?s\.$/));
    await untilAnnounced(page, 'The model answered');
    await lookAtEveryWidth('model-answered');
  });

  it('shows the error and the next step', async () => {
    const { page } = window;
    await provider.close();
    await page.goto('/settings/model');
    await page.getByRole('button', { name: 'Test the model' }).click();
    await shown(page.getByText(/^The provider could not be reached \(ECONNREFUSED\)\. It took/));
    await shown(page.getByText(/^Next step: Check that SKEIN_MODEL_BASE_URL is correct/));
    await untilAnnounced(page, 'The test failed');
    await lookAtEveryWidth('model-failed');
  });

  it('tells members that the page is for admins', async () => {
    const ben = await openAs(browser, await signedInMember(service, 'First', 'ben@first.example'));
    await ben.page.goto('/settings/model');
    await shown(ben.page.getByText('This page is for admins'));
    assert.equal(await ben.page.getByRole('link', { name: 'Model', exact: true }).count(), 0);
    await ben.close();
  });
});
