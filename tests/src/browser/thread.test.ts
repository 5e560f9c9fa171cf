import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Locator } from 'playwright-core';
import { lookAt, sharedBrowser, type Window } from '../../harness/browser/browser.ts';
import { countRequests, gone, heading, openAs, shown, untilAnnounced } from '../../harness/browser/people.ts';
import { type SettingsWorld, sharedSettingsWorld } from '../../harness/console/settings-world.ts';
import { ask, at, untilEnded } from '../../harness/console/thread-calls.ts';
import { assertDone } from '../../harness/console/visitor.ts';
import { eventually } from '../../harness/service/eventually.ts';

/** Records every placeholder that appears after the question was sent. */
const watchForPlaceholders = `globalThis.placeholders = [];
new MutationObserver(() => {
  const shown = document.querySelector('main [aria-busy="true"]');
  if (globalThis.asked && shown) globalThis.placeholders.push(shown.textContent);
}).observe(document, { subtree: true, childList: true });`;

/** Clicks Ask and resolves to the milliseconds until the first step is painted. */
const askAndTimeFirstStep = `new Promise((resolve) => {
  globalThis.asked = performance.now();
  [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Ask').click();
  const look = () => {
    const isShown = [...document.querySelectorAll('[data-testid="reply"] li')].some((step) => step.checkVisibility());
    if (isShown) resolve(performance.now() - globalThis.asked);
    else requestAnimationFrame(look);
  };
  look();
})`;

describe('A thread in the console', () => {
  let world: SettingsWorld;
  let browser: Browser;
  let window: Window;
  before(async () => {
    world = await sharedSettingsWorld();
    browser = await sharedBrowser();
    window = await openAs(browser, world.ada.client, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
  });
  after(async () => {
    await window?.close();
  });

  async function askInPage(prompt: string): Promise<string> {
    const { page } = window;
    await page.goto('/new');
    await page.getByLabel('Your question').fill(prompt);
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.waitForURL('**/threads/thr_*');
    return new URL(page.url()).pathname.split('/').at(-1) as string;
  }

  const reply = (of: Window = window) =>
    of.page.getByRole('article').filter({ has: of.page.getByText('Reply', { exact: true }) });
  const followUp = () => window.page.getByRole('textbox', { name: 'Follow-up prompt' });

  it('is called Untitled everywhere if its title has no visible character', async () => {
    const { page } = window;
    const { id } = (await ask(world.ada, '#say Nameless.', { title: '\u200B' })).thread;
    await untilEnded(world.ada, id);
    await page.goto(`/threads/${id}`);
    await shown(heading(page, /^Untitled/));
    assert.equal(await page.title(), 'Untitled · Skein');
    await page.goto('/');
    await shown(page.getByTestId('threads').getByRole('link', { name: /^Untitled/ }));
    await shown(page.getByRole('navigation').getByRole('link', { name: /^Untitled/ }));
    await eventually(
      async () => assertDone(await world.ada.get('/threads?search=nameless')).threads,
      ({ length }) => length > 0,
    );
    await page.goto('/?search=nameless');
    await shown(page.getByTestId('threads').getByRole('link', { name: /^Untitled/ }));
    await shown(page.getByTestId('threads').locator('mark').first());
    window.assertFaultless();
  });

  it('shows a title that would reverse the text after it in its own order, in lists and in the tab', async () => {
    const { page } = window;
    const { thread } = await ask(world.ada, 'Which file?', { title: 'Open \u202Efdp.sloof' });
    await page.goto(`/threads/${thread.id}`);
    await shown(heading(page, /^Open fdp\.sloof/));
    assert.equal(await page.title(), 'Open fdp.sloof · Skein');
    await page.goto('/');
    await shown(page.getByTestId('threads').getByRole('link', { name: /^Open fdp\.sloof / }));
    await shown(page.getByRole('region', { name: 'Recent' }).getByTitle('Open fdp.sloof', { exact: true }));
    await page.keyboard.press('Control+k');
    await shown(page.getByRole('dialog').getByRole('button', { name: 'Open fdp.sloof', exact: true }));
    await page.keyboard.press('Escape');
    window.assertFaultless();
  });

  it('shows a reply as plain text if it is nested too deeply to be formatted', async () => {
    const { page } = window;
    const texts = ['>'.repeat(9_000), '1. '.repeat(6_000), `${'*'.repeat(4_000)}a${'*'.repeat(4_000)}`];
    for (const text of texts) {
      const { id } = (await ask(world.ada, `#say ${text}`)).thread;
      await untilEnded(world.ada, id);
      await page.goto(`/threads/${id}`);
      await shown(reply().getByText(text.slice(0, 100).trim()));
      await shown(followUp());
    }
    window.assertFaultless();
  });

  it('shows the steps of a running reply, with times of a second or more', async () => {
    const { page } = window;
    const step = (text: string | RegExp) => reply().getByRole('listitem').filter({ hasText: text });
    await askInPage('#step Reading the contract\n#wait 1100\n#step Comparing\n#say Thirty days [1].\n#hang');
    await shown(step(/Reading the contract\s*1\.\d s$/));
    await shown(step(/Writing$/));
    assert.equal(await step(/^\s*Comparing\s*$/).count(), 1, 'the time of a quick step is not shown');
    await shown(reply().getByText('Thirty days'));
    assert.equal(await reply().getByText('[1]').count(), 0, 'a citation is a chip before it has a source');
    await shown(reply().locator('[data-pending]').getByText('1', { exact: true }));
    await untilAnnounced(page, 'Generating');
    await lookAt(page, 'running-reply');
    await page.getByRole('button', { name: 'Stop' }).click();
    await shown(reply().getByRole('button', { name: /^2 steps · \d/, expanded: false }));
    await gone(step('Comparing'));
    await lookAt(page, 'collapsed-steps');
    window.assertFaultless();
  });

  it('shows that a reply is being checked', async () => {
    await askInPage('#step Comparing\n#say Thirty days.\n#corroborate\n#hang');
    await shown(reply().getByText('Checking each statement against the sources'));
    assert.equal(await reply().getByText('Writing', { exact: true }).count(), 0);
    window.assertFaultless();
  });

  it('shows the first step of a new thread without a placeholder over the prompt', async (test) => {
    const times: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      // A fresh session: nothing is cached.
      const fresh = await openAs(browser, world.ada.client);
      await fresh.page.addInitScript(watchForPlaceholders);
      await fresh.page.goto('/new', { waitUntil: 'networkidle' });
      await fresh.page.getByLabel('Your question').fill('#step Looking\n#say Found.\n#wait 60000');
      times.push(await fresh.page.evaluate(askAndTimeFirstStep));
      await shown(reply(fresh).getByText('Found.'));
      assert.deepEqual(await fresh.page.evaluate('globalThis.placeholders'), []);
      await fresh.page.getByRole('button', { name: 'Stop' }).click();
      await shown(reply(fresh).getByText('Stopped.'));
      await fresh.close();
    }
    test.diagnostic(`cold ask to first step: ${times.map((ms) => `${Math.round(ms)} ms`).join(', ')}`);
  });

  it('is the same after a reload and in another window, and stops for all', async () => {
    const { page } = window;
    await askInPage('#step Thinking\n#say So far, so good.\n#hang');
    await shown(reply().getByText('So far, so good.'));
    const other = await window.tab();
    await other.page.goto(page.url());
    await page.reload();
    for (const one of [window, other]) {
      await shown(one.page.getByRole('listitem').filter({ hasText: 'Thinking' }));
      await shown(reply(one).getByText('So far, so good.'));
    }
    await page.bringToFront();
    await page.getByRole('button', { name: 'Stop' }).click();
    await untilAnnounced(page, 'Stopped');
    await other.page.bringToFront();
    for (const one of [other, window]) {
      await shown(reply(one).getByText('Stopped.'));
      assert.equal(await reply(one).getByText('So far, so good.').count(), 1, 'what there was stays');
      await shown(one.page.getByRole('button', { name: 'Retry' }));
    }
    await other.page.close();
    await page.bringToFront();
    other.assertFaultless();
    window.assertFaultless();
  });

  it('shows a failed reply with its trace ID and retries it', async () => {
    const { page } = window;
    const threadId = await askInPage('#step Trying\n#fail');
    await shown(reply().getByText('The reply failed'));
    await untilAnnounced(page, 'Failed');
    const view = await untilEnded(world.ada, threadId);
    await shown(reply().getByText(view.messages.at(-1).traceId));
    await page.getByRole('button', { name: 'Retry' }).click();
    await shown(reply().getByText('2 / 2'));
    await shown(reply().getByText('The reply failed'));
    await lookAt(page, 'failed-reply');
    assert.equal((await untilEnded(world.ada, threadId)).messages.length, 3, 'one prompt, two tries');
    window.assertFaultless();
  });

  it('continues with a follow-up, whose draft survives a reload', async () => {
    const { page } = window;
    const threadId = await askInPage('What is wool?');
    await shown(page.getByText('You asked: What is wool?'));
    await untilAnnounced(page, 'Complete');
    await followUp().fill('And what is silk?');
    await page.reload();
    await shown(followUp());
    assert.equal(await followUp().inputValue(), 'And what is silk?');
    await followUp().press('Enter');
    await shown(page.getByText('You asked: And what is silk?'));
    assert.equal(await followUp().inputValue(), '');
    assert.equal((await untilEnded(world.ada, threadId)).messages.length, 4);
    window.assertFaultless();
  });

  it('treats a follow-up as sent if it arrived but its response was lost', async () => {
    const { page } = window;
    const threadId = await askInPage('What is linen?');
    await shown(page.getByText('You asked: What is linen?'));
    await untilAnnounced(page, 'Complete');
    await page.route('**/messages', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await followUp().fill('And what is hemp?');
    await followUp().press('Enter');
    await shown(page.getByText('You asked: And what is hemp?'));
    await page.waitForFunction(`document.querySelector('[aria-label="Follow-up prompt"]').value === ''`);
    await gone(page.getByText('Couldn’t send the prompt'));
    await page.unroute('**/messages');
    assert.equal((await untilEnded(world.ada, threadId)).messages.length, 4, 'one follow-up');
    window.assertFaultless();
  });

  it('is renamed in place, here and in every list; Esc keeps the old title', async () => {
    const { page } = window;
    await askInPage('A first title');
    const field = page.getByRole('textbox', { name: 'Thread title' });
    await page.getByRole('button', { name: 'A first title' }).click();
    await field.fill('A passing thought');
    await field.press('Escape');
    await shown(heading(page, 'A first title'));
    await page.getByRole('button', { name: 'A first title' }).click();
    await field.fill('A better title');
    await field.press('Enter');
    await shown(heading(page, 'A better title'));
    assert.equal(await page.title(), 'A better title · Skein');
    await page.getByRole('link', { name: 'My threads' }).first().click();
    await shown(page.getByRole('link', { name: /^A better title/ }));
    await gone(page.getByRole('link', { name: /^A first title/ }));
    window.assertFaultless();
  });

  it('shows titles and lists in the direction of their script, so that a long title is cut at its end', async () => {
    const { page } = window;
    const title = 'متى يكون المتجر مفتوحًا '.repeat(10).trim();
    const { thread } = await ask(world.ada, '#say - متى؟', { title });
    const direction = (place: Locator) =>
      place.evaluate((element) => (globalThis as any).getComputedStyle(element).direction);
    await page.goto('/');
    assert.equal(await direction(page.getByTestId('threads').getByText(title)), 'rtl');
    assert.equal(await direction(page.getByRole('region', { name: 'Recent' }).getByText(title)), 'rtl');
    await page.goto(`/threads/${thread.id}`);
    assert.equal(await direction(heading(page, title)), 'rtl');
    const list = page.getByRole('article').getByRole('list').filter({ hasText: 'متى؟' });
    assert.equal(await direction(list), 'rtl');
    window.assertFaultless();
  });

  it('copies its link from the menu, which says so', async () => {
    const { page } = window;
    const threadId = await askInPage('What is tweed?');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Copy link' }).click();
    await shown(page.getByRole('menuitem', { name: 'Copied' }));
    await page.keyboard.press('Escape');
    await gone(page.getByRole('menu'));
    await page.keyboard.press('n');
    await page.getByLabel('Your question').press('Control+v');
    assert.equal(
      await page.getByLabel('Your question').inputValue(),
      `${world.service.baseUrl}/threads/${threadId}`,
    );
    await page.getByLabel('Your question').fill('');
    window.assertFaultless();
  });

  it('prints its title, prompts and replies in dark text, and all of their code and tables', async () => {
    const { page } = window;
    const lines = Array.from({ length: 40 }, (_, line) => `Line ${line + 1} of the question`);
    // The reply repeats the start of the prompt.
    const code = ['```json', `{"wool": "${'w'.repeat(40)}"}`, '```'];
    lines.splice(1, 3, ...code, '', '| Yarn | Use |', '|---|---|', `| ${'x'.repeat(40)} | Socks |`);
    await askInPage(lines.join('\n'));
    await untilAnnounced(page, 'Complete');
    const token = reply().locator('code span').filter({ hasText: 'wool' }).first();
    const readColor = (place: Locator) =>
      place.evaluate((element) => (globalThis as any).getComputedStyle(element).color);
    await page.emulateMedia({ colorScheme: 'light' });
    await shown(token);
    const inLightTheme = await readColor(token);
    await page.emulateMedia({ colorScheme: 'dark' });
    await shown(reply().getByRole('button', { name: 'Copy code' }));
    // The page follows the system's theme with its next rendering.
    await eventually(
      () => readColor(token),
      (color) => color !== inLightTheme,
    );
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    assert.equal(await readColor(token), inLightTheme);
    await shown(heading(page, lines[0]!));
    await gone(page.getByRole('navigation', { name: 'Main' }));
    await gone(followUp());
    // The title is a button, too.
    assert.deepEqual(await page.getByRole('button').allInnerTexts(), [lines[0]]);
    const text = page.getByTestId('prompt').getByText(lines[39]!);
    const { isCut, color } = await text.evaluate((element: any) => ({
      isCut: element.scrollHeight > element.clientHeight,
      color: (globalThis as any).getComputedStyle(element).color,
    }));
    assert.deepEqual({ isCut, color }, { isCut: false, color: 'rgb(0, 0, 0)' });
    const size = page.viewportSize()!;
    await page.setViewportSize({ width: 320, height: 740 });
    await shown(reply().getByRole('table'));
    const excess = await reply()
      .locator('pre, figure')
      .evaluateAll((boxes: any[]) => boxes.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth));
    assert.deepEqual(excess, [0, 0, 0]);
    await page.setViewportSize(size);
    await page.emulateMedia({ media: null, colorScheme: null });
    window.assertFaultless();
  });

  it('is deleted at once, and can be restored', async () => {
    const { page } = window;
    const prompt = 'Delete me, although the note that offers to undo it has little room for such a title';
    const threadId = await askInPage(prompt);
    await shown(page.getByText(`You asked: ${prompt}`));
    const title = await page.getByRole('heading', { level: 1 }).innerText();
    assert.match(title, /^Delete me, although/);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await shown(heading(page, 'My threads'));
    await shown(page.getByText(`Deleted “${title}”`));
    await gone(page.getByRole('link', { name: /^Delete me/ }));
    await lookAt(page, 'deleted-thread');
    assert.equal((await world.ada.get(at(threadId))).status, 404);
    const undo = page.getByRole('button', { name: 'Undo' });
    const label = undo.getByText('Undo', { exact: true });
    assert.ok(
      await label.evaluate((node: any) => node.scrollWidth <= node.clientWidth),
      'the label is not cut off',
    );
    const restores = countRequests(page, '/restore');
    await undo.dblclick();
    await shown(heading(page, title));
    await shown(page.getByText(`You asked: ${prompt}`));
    assert.equal(restores(), 1);
    assertDone(await world.ada.get(at(threadId)));
    window.assertFaultless();
  });

  it('is published live to the readers that the dialog names, and unpublished again', async () => {
    const { page } = window;
    const { thread } = await ask(world.ada, 'Who may read this?');
    const ben = await openAs(browser, world.ben.client);
    await ben.page.goto(`/threads/${thread.id}`);
    await shown(heading(ben.page, 'Thread not found'));

    await page.goto(`/threads/${thread.id}`);
    await shown(page.getByText('Only you', { exact: true }));
    await page.getByRole('button', { name: 'Publish' }).click();
    const dialog = page.getByRole('dialog');
    await shown(dialog.getByText('everyone in Acme'));
    await lookAt(page, 'publish');
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await shown(page.getByText('Published', { exact: true }).last());
    await gone(dialog);

    await ben.page.reload();
    await shown(heading(ben.page, 'Who may read this?'));
    await shown(ben.page.getByText(`Published by ${world.email('ada')}`));

    await page.getByRole('button', { name: 'Unpublish' }).click();
    await shown(dialog.getByText('Only you will be able to see it'));
    await dialog.getByRole('button', { name: 'Unpublish' }).click();
    await shown(page.getByText('Only you', { exact: true }));
    await shown(heading(ben.page, 'Thread not found'));
    await ben.close();
    window.assertFaultless();
  });
});
