import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { lookAt, sharedBrowser, Window } from '../../../harness/browser/browser.ts';
import { gone, heading, openAs, shown, untilAnnounced } from '../../../harness/browser/people.ts';
import { type ConsoleClient, signedInMember, testPassword } from '../../../harness/console/console-client.ts';
import { assertDone, Visitor } from '../../../harness/console/visitor.ts';
import { eventually } from '../../../harness/service/eventually.ts';
import { Service } from '../../../harness/service/service.ts';

const email = 'ada@demo.example';

/** A page of the console. `ready` resolves when all of it is shown. */
interface Place {
  readonly name: string;
  readonly path: string;
  readonly ready: (page: Page) => Promise<unknown>;
}

const titled = (name: string, path: string, title: string | RegExp, more?: Place['ready']): Place => ({
  name,
  path,
  ready: async (page) => {
    await shown(heading(page, title));
    await more?.(page);
    await page.locator('[aria-busy="true"]').waitFor({ state: 'detached' });
  },
});

/** A name without spaces, which must not make a page wider. */
const longWord = 'Warehouse'.repeat(20);

const sizes: Record<string, BrowserContextOptions> = {
  // The narrowest width of WCAG 1.4.10.
  phone: { viewport: { width: 320, height: 740 }, hasTouch: true, isMobile: true },
  tablet: { viewport: { width: 768, height: 1024 }, hasTouch: true },
  // A window of 1280 pixels, zoomed to 200 %.
  'zoomed window': { viewport: { width: 640, height: 400 } },
  'wide window': { viewport: { width: 1280, height: 800 } },
};

/** Only tables differ from those of a phone or a wide window. */
const hasOwnTables = (size: string) => size === 'tablet' || size === 'zoomed window';

/** The cumulative layout shift. People do not notice values below 0.1. */
const sumShifts = `globalThis.shifts = 0;
new PerformanceObserver((list) => {
  for (const { hadRecentInput, value } of list.getEntries()) if (!hadRecentInput) globalThis.shifts += value;
}).observe({ type: 'layout-shift', buffered: true });`;

describe('The pages of the console', () => {
  let service: Service;
  let client: ConsoleClient;
  let browser: Browser;
  let places: Place[];
  before(async () => {
    service = await Service.start();
    client = await signedInMember(service, 'Demo', email, 'admin');
    browser = await sharedBrowser();
    places = await fillPages();
  });
  after(async () => {
    await service?.end();
  });

  /** Creates at least one of everything that the pages show. */
  async function fillPages(): Promise<Place[]> {
    const ada = new Visitor(client, client.session.organizations[0].id);
    const post = async (path: string, body: object) => assertDone(await ada.post(path, body), 201);
    await post('/threads', { prompt: 'Who won the world championship of zither in 1987?' });
    const { thread } = await post('/threads', { prompt: 'Until when can unused yarn be returned, and how?' });
    await post('/threads', { prompt: 'Which yarn is best for socks? '.repeat(6), accountId: 'acme-eu' });
    assertDone(await ada.call('PUT', `/threads/${thread.id}/published`, { body: { published: true } }));
    await post('/keys', { name: longWord, scope: 'org-wide' });
    await post('/applications', { name: longWord });
    await post('/members', {
      email: 'a.person.with.quite.a.long.address@subsidiary.demo.example',
      role: 'member',
      service: false,
    });
    const { key } = await post('/keys', { name: 'Laptop', scope: 'personal', ownerId: ada.userId });
    for (const limit of [25, 900]) {
      const headers = { authorization: `Bearer ${key}` };
      await fetch(`${service.baseUrl}/api/v1/threads?limit=${limit}`, { headers });
    }
    await eventually(
      async () => assertDone(await ada.get('/usage')),
      ({ counts }) => counts.length > 0,
    );
    await eventually(
      async () => assertDone(await ada.get(`/threads/${thread.id}`)),
      ({ state }) => state === 'idle',
    );
    await eventually(
      async () => assertDone(await ada.get('/examples')),
      ({ questions }) => questions.length > 0,
    );
    const rows = (page: Page) => shown(page.getByRole('row').nth(1));
    return [
      titled('threads', '/', 'My threads', (page) => shown(page.getByRole('list', { name: 'Threads' }))),
      titled('published', '/published', 'Published threads', (page) => shown(page.getByText('Yours'))),
      titled('no-thread-found', '/?search=nothing', 'My threads', (page) =>
        shown(page.getByText('No matching threads')),
      ),
      titled('new-thread', '/new', 'New thread', (page) =>
        shown(page.getByRole('heading', { name: 'Try a question' })),
      ),
      titled('thread', `/threads/${thread.id}`, /^Until when/, (page) =>
        shown(page.getByRole('heading', { name: /source/ })),
      ),
      titled('nothing-here', '/nowhere', 'Page not found', (page) =>
        shown(page.getByText('There’s no page at this URL.')),
      ),
      titled('keys', '/settings/keys', 'API keys', rows),
      titled('applications', '/settings/applications', 'Applications', rows),
      titled('members', '/settings/members', 'Members', rows),
      titled('documents', '/settings/documents', 'Documents', rows),
      titled('unanswered', '/settings/unanswered', 'Unanswered questions', (page) =>
        shown(page.getByRole('article')),
      ),
      titled('model', '/settings/model', 'Model', (page) => shown(page.getByText('Provider: none'))),
      titled('usage', '/settings/usage', 'Usage', (page) =>
        shown(page.locator('.recharts-bar-rectangle, .recharts-surface')),
      ),
      titled('requests', '/settings/requests', 'Requests', (page) => shown(page.getByText('INVALID_PARAMS'))),
      titled('audit', '/settings/audit', 'Audit log', rows),
      titled('account', '/settings/account', 'Your account'),
    ];
  }

  for (const [size, options] of Object.entries(sizes)) {
    const look = (page: Page, name: string) => lookAt(page, name, size.split(' ')[0]);

    it(`fit a ${size} in light and dark colors, do not shift while loading, and are accessible`, async () => {
      const window = await openAs(browser, client, options);
      await window.page.addInitScript(sumShifts);
      const looked = hasOwnTables(size) ? places.filter(({ path }) => path.startsWith('/settings')) : places;
      for (const { name, path, ready } of looked) {
        await window.page.goto(path);
        await ready(window.page);
        const shifts: number = await window.page.evaluate('globalThis.shifts');
        assert.ok(shifts < 0.1, `${name} moved by ${shifts} while it was loaded`);
        await look(window.page, name);
      }
      await window.close();
    });

    if (hasOwnTables(size)) continue;
    it(`fit a ${size} with dialogs, menus and sign-in pages`, async () => {
      const window = await openAs(browser, client, options);
      const { page } = window;
      await page.goto('/settings/keys');
      await page.getByRole('button', { name: 'Create key' }).click();
      await shown(page.getByRole('dialog').getByLabel('Name'));
      await look(page, 'new-key');
      await page.keyboard.press('Escape');
      await gone(page.getByRole('dialog'));
      await page.getByRole('button', { name: `Revoke ${longWord}` }).click();
      await shown(page.getByRole('dialog').getByText('stops working immediately'));
      await look(page, 'revoke-long-name');
      await page.keyboard.press('Escape');
      await gone(page.getByRole('dialog'));
      await page.keyboard.press('Control+k');
      await shown(page.getByRole('dialog', { name: 'Find' }).getByRole('button', { name: /^Until when/ }));
      await look(page, 'palette');
      await page.keyboard.press('Escape');
      await gone(page.getByRole('dialog'));
      if (size === 'phone') {
        await page.getByRole('button', { name: 'Menu' }).click();
        await shown(page.getByRole('dialog', { name: 'Menu' }));
        await look(page, 'menu');
      }
      await page.context().clearCookies();
      await page.goto('/');
      await shown(heading(page, 'Sign in'));
      await look(page, 'sign-in');
      await page.goto('/forgot-password');
      await shown(heading(page, 'Forgot your password?'));
      await look(page, 'forgot-password-without-mail');
      await page.goto('/invitation#inv_none');
      await shown(heading(page, 'This link is no longer valid'));
      await look(page, 'used-invitation');
      await window.close();
    });
  }

  it('load less than 250 kB of JavaScript first, from the service only', async () => {
    const window = await openAs(browser, client);
    const sizes: Promise<number>[] = [];
    window.page.on('requestfinished', (request) => {
      if (request.resourceType() === 'script')
        sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    });
    await window.page.goto('/', { waitUntil: 'networkidle' });
    await shown(heading(window.page, 'My threads'));
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    assert.ok(bytes > 10_000, 'they were measured');
    assert.ok(bytes < 250_000, `${bytes} bytes`);
    await window.close();
  });

  it('offer questions that get an answer, and a checklist until it is done or dismissed', async () => {
    const window = await openAs(browser, client, { viewport: { width: 768, height: 900 } });
    const { page } = window;
    const checklist = page.getByRole('region', { name: 'Get started' });
    const examples = page.getByRole('region', { name: 'Try a question' }).getByRole('button');
    await page.goto('/new');
    await shown(examples);
    assert.equal(await checklist.count(), 0, 'all of it is done');

    const admin = await signedInMember(service, 'Demo', 'new.admin@demo.example', 'admin');
    const fresh = await openAs(browser, admin, { viewport: { width: 768, height: 900 } });
    await fresh.page.goto('/new');
    const steps = fresh.page.getByRole('region', { name: 'Get started' });
    await shown(steps.getByText('3 of 4 done'));
    // A reply needs documents.
    await shown(steps.getByRole('listitem').first().getByText('Add a document'));
    await lookAt(fresh.page, 'first-minutes', 'tablet');
    await steps.getByRole('button', { name: 'Dismiss the checklist' }).click();
    await gone(steps);
    await fresh.page.reload();
    await shown(fresh.page.getByRole('region', { name: 'Try a question' }));
    assert.equal(await steps.count(), 0);
    await fresh.close();

    const questions = await examples.allInnerTexts();
    assert.ok(questions.length >= 2, `${questions}`);
    await examples.first().click();
    await shown(heading(page, questions[0]!));
    await untilAnnounced(page, 'Complete');
    await shown(page.getByTestId('verdict'));
    await window.close();
  });

  it('can be used without a mouse, with a visible focus', async () => {
    const window = await Window.open(browser, service.baseUrl);
    const { page } = window;
    await page.goto('/');
    await shown(heading(page, 'Sign in'));
    await page.keyboard.type(email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(testPassword);
    await page.keyboard.press('Tab');
    assert.equal(await focused(page), 'Show password');
    await page.keyboard.press('Enter');
    assert.equal(await page.getByLabel('Password', { exact: true }).getAttribute('type'), 'text');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await shown(heading(page, 'My threads'));
    await page.keyboard.press('Tab');
    assert.equal(await focused(page), 'Skip to content');
    for (let step = 0; step < 12; step += 1) {
      await page.keyboard.press('Tab');
      assert.ok(await hasRing(page), `${await focused(page)} shows that it has the focus`);
    }
    await page.keyboard.press('Control+k');
    await shown(page.getByRole('dialog', { name: 'Find' }));
    await page.keyboard.type('new thread');
    await page.keyboard.press('Enter');
    await shown(heading(page, 'New thread'));
    await page.keyboard.type('When is the shop open?');
    await page.keyboard.press('Enter');
    await shown(heading(page, 'When is the shop open?'));
    await untilAnnounced(page, 'Complete');
    assert.equal(await focused(page), 'Follow-up prompt');
    await window.close();
  });
});

/** A description of the focused element. */
async function focused(page: Page): Promise<string> {
  const element = page.locator('*:focus');
  return (await element.getAttribute('aria-label')) ?? element.innerText();
}

/** Whether the focused element has a visible outline. */
async function hasRing(page: Page): Promise<boolean> {
  return page.evaluate(`(({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2)(
    getComputedStyle(document.querySelector('*:focus')))`);
}
