import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { lookAt, sharedBrowser, type Window } from '../../harness/browser/browser.ts';
import { gone, heading, openAs, shown, untilAnnounced } from '../../harness/browser/people.ts';
import { type SettingsWorld, sharedSettingsWorld } from '../../harness/console/settings-world.ts';
import { ask, at, untilEnded } from '../../harness/console/thread-calls.ts';
import { assertDone } from '../../harness/console/visitor.ts';

const widths = { wide: 1280, tablet: 768, phone: 360 };

describe('Versions of prompts and replies', () => {
  let world: SettingsWorld;
  let browser: Browser;
  let window: Window;
  before(async () => {
    world = await sharedSettingsWorld();
    browser = await sharedBrowser();
    window = await openAs(browser, world.ada.client, { acceptDownloads: true });
    await window.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  });
  after(async () => {
    await window?.close();
  });

  const button = (name: string) => window.page.getByRole('button', { name, exact: true });
  const prompts = () => window.page.getByTestId('prompt');
  const dialog = () => window.page.getByRole('dialog');
  const replies = () => window.page.getByTestId('reply');

  async function open(prompt: string): Promise<string> {
    const { thread } = await ask(world.ada, prompt);
    await untilEnded(world.ada, thread.id);
    await window.page.goto(`/threads/${thread.id}`);
    await shown(replies());
    return thread.id;
  }

  async function lookAtAllWidths(name: string): Promise<void> {
    for (const [size, width] of Object.entries(widths)) {
      await window.page.setViewportSize({ width, height: 800 });
      await lookAt(window.page, name, size);
    }
    await window.page.setViewportSize({ width: 1280, height: 720 });
  }

  it('can be paged through after a reply was regenerated', async () => {
    const id = await open('What is a hank?');
    await button('Publish').click();
    await shown(dialog().getByText('Who can read this thread'));
    assert.equal(await dialog().getByText('earlier versions').count(), 0);
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await gone(dialog());
    await button('Regenerate').click();
    await shown(replies().getByText('2 / 2'));
    await untilAnnounced(window.page, 'Complete');
    assert.equal(await replies().count(), 1, 'the earlier version is not shown');
    await button('Publish').click();
    await shown(dialog().getByText('They can also read the earlier versions of prompts you edited'));
    await lookAtAllWidths('publish-versions');
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await gone(dialog());
    await button('Regenerate').click();
    await shown(replies().getByText('3 / 3'));
    await button('Previous version of the reply').click();
    await shown(replies().getByText('2 / 3'));
    assert.equal(await button('Regenerate').count(), 0, 'only the latest version can be regenerated');
    await button('Next version of the reply').click();
    await shown(replies().getByText('3 / 3'));
    const { messages } = await untilEnded(world.ada, id);
    assert.deepEqual(
      messages.map(({ role }: any) => role),
      ['user', 'assistant', 'assistant', 'assistant'],
    );
    window.assertFaultless();
  });

  it('of the last prompt are written by editing it, and keep their replies', async () => {
    const { page } = window;
    const id = await open('What is wool?');
    assertDone(await world.ada.post(at(id, '/messages'), { prompt: 'And linnen?' }), 201);
    await shown(page.getByText('You asked: And linnen?'));
    assert.equal(await button('Edit prompt').count(), 1, 'only the last prompt can be edited');
    await button('Edit prompt').click();
    const field = page.getByRole('textbox', { name: 'Edit prompt' });
    await field.press('Escape');
    await gone(field);
    await button('Edit prompt').click();
    await lookAtAllWidths('edit-prompt');
    await field.fill('And linen?');
    await field.press('Enter');
    await shown(page.getByText('You asked: And linen?'));
    await gone(page.getByText('You asked: And linnen?'));
    await shown(prompts().last().getByText('2 / 2'));
    await lookAtAllWidths('edited-prompt');
    await button('Previous version of the prompt').click();
    await shown(page.getByText('You asked: And linnen?'));
    await gone(page.getByText('You asked: And linen?'));
    assert.equal(await prompts().count(), 2);
    assert.equal(await button('Edit prompt').count(), 0);
    const { messages } = await untilEnded(world.ada, id);
    assert.equal(messages.length, 6);
    await page.reload();
    await shown(page.getByText('You asked: And linen?'));
    window.assertFaultless();
  });

  it('are copied and exported as Markdown and JSON', async () => {
    const { page } = window;
    const id = await open('#say Thirty days [1].\n#source The [refund] policy');
    await button('Copy reply').click();
    await untilAnnounced(page, 'Copied');
    assert.equal(
      await page.evaluate('navigator.clipboard.readText()'),
      'Thirty days [1].\n\n**Sources**\n\n1. The \\[refund\\] policy\n',
    );
    assertDone(await world.ada.call('PATCH', at(id), { body: { title: '../../etc: a "good" title? <b>' } }));
    await shown(heading(page, /good/));
    async function download(item: string) {
      await button('More actions').click();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: item }).click(),
      ]);
      return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
    }
    const markdown = await download('Export as Markdown');
    assert.equal(markdown.name, 'etc-a-good-title-b.md');
    assert.match(markdown.text, /^# \.\.\/\.\.\/etc: a "good" title\? <b>\n\n> #say Thirty days/);
    assert.match(markdown.text, /\n\nThirty days \[1\]\.\n\n\*\*Sources\*\*\n\n1\. /);
    const json = await download('Export as JSON');
    assert.equal(json.name, 'etc-a-good-title-b.json');
    const { messages } = await untilEnded(world.ada, id);
    assert.deepEqual(JSON.parse(json.text).messages, messages);
    window.assertFaultless();
  });
});
