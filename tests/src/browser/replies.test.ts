import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Locator } from 'playwright-core';
import { lookAt, sharedBrowser, type Window } from '../../harness/browser/browser.ts';
import { heading, openAs, shown, untilAnnounced } from '../../harness/browser/people.ts';
import { type ConsoleClient, signedInMember } from '../../harness/console/console-client.ts';
import { HeldModel } from '../../harness/replies/held-model.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { Service } from '../../harness/service/service.ts';

const hostile = `# Care of wool

<script>globalThis.hacked = 'script'</script>
<img src="https://evil.example/i.png" onerror="globalThis.hacked = 'image'">
<iframe src="https://evil.example/"></iframe>

![a pixel](https://evil.example/pixel.png) and [a trap](javascript:globalThis.hacked='link') and [a page](https://example.org/wool).

| Fibre | Wash |
|---|---|
| Wool | cold |

\`\`\`sh
wash --cold "wool"
\`\`\`

The time is $t_1 * w_1 + t_2 * w_2$ for wool.
`;

/** The sources support three of its eight statements. */
const doubtful = `## Returning yarn

Unused yarn can be returned for a full refund within 30 days of purchase [1]. **The director plays the trombone** in \`the big hall\`. Sale items cannot be refunded.

- Whales sing at night in the northern sea
- Sale items can be exchanged within 14 days if the label is intact, and every visitor gets a purple balloon

| Guest | Instrument |
|---|---|
| Grandmother | thunderous bagpipes |
| Grandfather | see [the programme](https://example.org/concert) |

\`\`\`sh
blow --loud "trombone"
\`\`\`
`;

describe('A reply in the console', () => {
  const model = new HeldModel();
  let service: Service;
  let environment: Record<string, string>;
  let client: ConsoleClient;
  let browser: Browser;
  let window: Window;
  before(async () => {
    // A reply whose worker was killed is claimed again after its lease expires.
    environment = { ...(await model.start()), SKEIN_REPLY_LEASE_MS: '1000' };
    service = await Service.start({ environment });
    client = await signedInMember(service, 'Demo', 'ada@demo.example');
    browser = await sharedBrowser();
    window = await openAs(browser, client, { permissions: ['clipboard-read', 'clipboard-write'] });
  });
  after(async () => {
    await window?.close();
    await service?.end();
    await model.stop();
  });

  async function askInPage(prompt: string): Promise<void> {
    const { page } = window;
    await page.goto('/new');
    await page.getByLabel('Your question').fill(prompt);
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await eventually(
      () => model.asked,
      (asked) => asked === 1,
    );
  }

  const reply = () => window.page.getByTestId('reply').last();

  it('grows as it is written, and cites its sources, which open their passages', async () => {
    const { page } = window;
    await askInPage('Until when can unused yarn be returned?');
    model.say('Unused yarn can be returned for a full refund ');
    await shown(reply().getByText('Unused yarn can be returned for a full refund'));
    assert.equal(await reply().getByText('within 30 days').count(), 0);
    model.answer('within 30 days of purchase [1].');
    await shown(reply().getByText('within 30 days'));
    await untilAnnounced(page, 'Complete');
    await shown(
      reply()
        .getByTestId('verdict')
        .getByText(/^The statement was found in/),
    );
    const citation = reply().getByRole('link', { name: /^Source 1: / });
    const passage = page.getByTestId('passage');
    await citation.hover();
    await shown(passage.getByText(/within 30 days of purchase/));
    await lookAt(page, 'passage');
    await citation.click();
    await shown(heading(page, 'Refund and exchange policy'));
    const cited = page.getByRole('region', { name: /, cited$/ });
    await shown(cited.locator('mark').getByText(/within 30 days of purchase/));
    assert.equal(await page.getByRole('note').count(), 0, 'the document is the one that was cited');
    for (const [size, width] of [
      ['wide', 1280],
      ['tablet', 768],
      ['phone', 360],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await cited.scrollIntoViewIfNeeded();
      await lookAt(page, 'document', size);
    }
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.goBack();
    await citation.focus();
    await shown(passage);
    await page.keyboard.press('Escape');
    await passage.waitFor({ state: 'hidden' });
    await shown(reply().getByRole('heading', { name: /^\d+ sources?$/ }));
    await reply().getByRole('link', { name: '1 Refund and exchange policy' }).click();
    await shown(cited);
    window.assertFaultless();
  });

  it('shows how many statements were found and marks the others, live and after a reload', async () => {
    const { page } = window;
    await askInPage('What about refunds, sale items and music?');
    model.answer(doubtful);
    const isShown = async () => {
      await shown(
        reply()
          .getByTestId('verdict')
          .getByText('3 of 8 statements found in 1 source. The other 5 are underlined.'),
      );
      const marks = reply().locator('mark');
      // The text is formatted after the verdict is shown.
      await shown(marks.first());
      assert.deepEqual(await marks.allInnerTexts(), [
        'The director plays the trombone',
        ' in ',
        'the big hall',
        '.',
        'Whales sing at night in the northern sea',
        'and every visitor gets a purple balloon',
        'Grandmother',
        'thunderous bagpipes',
        'Grandfather',
        'see ',
        'the programme',
      ]);
      const flags = reply().getByRole('button', { name: 'Not found in the documents' });
      assert.equal(await flags.count(), 5);
      return flags.first();
    };
    await untilAnnounced(page, 'Complete');
    await isShown();
    await page.reload();
    const flag = await isShown();
    assert.equal(await reply().locator('pre mark, th mark, h3 mark').count(), 0);
    const explanation = page.getByRole('tooltip', { name: /don’t say this/ });
    await flag.focus();
    await shown(explanation);
    await lookAt(page, 'unsupported');
    await page.keyboard.press('Tab');
    await flag.hover();
    await shown(explanation);
    for (const [size, width] of [
      ['tablet', 768],
      ['phone', 360],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await lookAt(page, 'unsupported', size);
    }
    await page.setViewportSize({ width: 1280, height: 720 });
    window.assertFaultless();
  });

  it('runs no scripts, loads no images and has no unsafe links', async () => {
    const { page } = window;
    await askInPage('Show me <img src="https://evil.example/p.png" onerror="globalThis.hacked = 1">');
    await shown(page.getByText('Show me <img src=', { exact: false }).last());
    model.answer(hostile);
    await shown(reply().getByRole('heading', { name: 'Care of wool' }));
    await shown(reply().getByRole('cell', { name: 'cold' }));
    await untilAnnounced(page, 'Complete');
    assert.equal(await page.evaluate('globalThis.hacked'), undefined);
    assert.equal(await page.locator('main img, main iframe, main script').count(), 0);
    assert.equal(await reply().getByRole('link', { name: 'a trap' }).count(), 0);
    await shown(reply().getByText('a trap'));
    const link = reply().getByRole('link', { name: 'a page' });
    assert.equal(await link.getAttribute('href'), 'https://example.org/wool');
    assert.match((await link.getAttribute('rel')) ?? '', /noopener noreferrer/);
    const strings = reply().locator('pre span').filter({ hasText: '"wool"' });
    await shown(strings);
    assert.notEqual(await readColor(strings), await readColor(reply().locator('pre')), 'code has colors');
    await shown(reply().getByText('$t_1 * w_1 + t_2 * w_2$'));
    await lookAt(page, 'markdown');
    await reply().getByRole('button', { name: 'Copy code' }).click();
    await untilAnnounced(page, 'Copied');
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'wash --cold "wool"');
    window.assertFaultless();
  });

  it('can be retried after it failed', async () => {
    const { page } = window;
    await askInPage('Will it work?');
    model.refuse();
    await shown(reply().getByText('The reply failed'));
    await page.getByRole('button', { name: 'Retry' }).click();
    await eventually(
      () => model.asked,
      (asked) => asked === 1,
    );
    model.answer('It works now.');
    await shown(reply().getByText('It works now.'));
    await page.getByRole('button', { name: 'Previous version of the reply' }).click();
    await shown(reply().getByText('The reply failed'));
    window.assertFaultless();
  });

  it("and the user's draft survive a restart of the service", async () => {
    const { page } = window;
    await askInPage('What survives?');
    model.say('Half of ');
    await shown(reply().getByText('Half of'));
    const { folder, baseUrl } = service;
    await service.end('SIGKILL');
    await page.getByRole('textbox', { name: 'Follow-up prompt' }).fill('A thought in between');
    await shown(page.getByText('Reconnecting…'));
    await lookAt(page, 'reconnecting');
    service = await Service.start({
      folder,
      environment: { ...environment, SKEIN_PORT: new URL(baseUrl).port },
    });
    await page.getByText('Reconnecting…').waitFor({ state: 'hidden' });
    // The provider has two open requests: one from the killed process, which nobody reads, and the retry.
    await eventually(
      () => model.asked,
      (asked) => asked === 2,
    );
    model.answer('everything.');
    await shown(reply().getByText('everything.'));
    await untilAnnounced(page, 'Complete');
    const draft = page.getByRole('textbox', { name: 'Follow-up prompt' });
    assert.equal(await draft.inputValue(), 'A thought in between');
    window.assertFaultless();
  });
});

function readColor(locator: Locator): Promise<string> {
  return locator.first().evaluate((element) => {
    return (globalThis as any).getComputedStyle(element).color;
  });
}
