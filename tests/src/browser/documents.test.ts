import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { lookAt, sharedBrowser, type Window } from '../../harness/browser/browser.ts';
import { gone, heading, openAs, shown, untilAnnounced } from '../../harness/browser/people.ts';
import { signedInMember, testPassword } from '../../harness/console/console-client.ts';
import { type SettingsWorld, sharedSettingsWorld } from '../../harness/console/settings-world.ts';
import { assertDone } from '../../harness/console/visitor.ts';
import { openSettingsWindow } from './settings-window.ts';

/** Some chapters have a heading of the next level. Checks of the whole page take longer with every heading. */
const headings = (at: number) => `## Chapter ${at}\n\n${at % 10 === 0 ? '### Rules\n\n' : ''}`;
const part = (at: number) =>
  `${headings(at)}In chapter ${at} a parcel weighs ${at} kilograms. It is sent on the next day.\n`;
const manual = `# Parcel manual\n\n${Array.from({ length: 130 }, (_, at) => part(at + 1)).join('\n')}`;

describe('A document in the console', () => {
  let world: SettingsWorld;
  let browser: Browser;
  let window: Window;
  let id: string;
  before(async () => {
    world = await sharedSettingsWorld();
    ({ id } = assertDone(await world.ada.upload({ name: 'manual.md' }, manual), 201));
    browser = await sharedBrowser();
    window = await openAs(browser, world.ben.client);
  });
  after(async () => {
    await window?.close();
    assertDone(await world.ada.post('/documents/remove', { ids: [id] }));
  });

  const citing = (cited: string, since = new Date().toISOString()) =>
    `/documents/${id}?${new URLSearchParams({ cited, snippet: cited, since })}`;
  const passage = (number: number, cited = '') =>
    window.page.getByRole('region', { name: `Passage ${number}${cited}`, exact: true });

  it('opens for every member at the cited passage, and loads the rest as it is read', async () => {
    const { page } = window;
    await page.goto(citing('In chapter 70 a parcel weighs 70 kilograms.'));
    await shown(heading(page, 'Parcel manual'));
    await shown(passage(70, ', cited').getByText('In chapter 70 a parcel weighs 70 kilograms.'));
    assert.equal(
      await passage(70, ', cited').locator('mark').innerText(),
      'In chapter 70 a parcel weighs 70 kilograms.',
    );
    await page.waitForFunction(
      `(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(document.getElementById('p70').getBoundingClientRect())`,
    );
    assert.equal(await passage(1).count(), 0, 'only a part is loaded');
    await lookAt(page, 'long-document');
    await page.getByRole('button', { name: 'Show earlier passages' }).click();
    await shown(passage(1));
    await passage(80).scrollIntoViewIfNeeded();
    await shown(passage(100));
    window.assertFaultless();
  });

  it('has links to its headings and passages', async () => {
    const { page } = window;
    await page.goto(`/documents/${id}`);
    await shown(passage(1));
    await page
      .getByRole('navigation', { name: 'Contents' })
      .getByRole('link', { name: 'Chapter 120' })
      .click();
    await shown(passage(120));
    assert.equal(new URL(page.url()).hash, '#p120');
    await passage(120).hover();
    await passage(121).getByRole('link', { name: 'Link to passage 121' }).click();
    await page.reload();
    await shown(passage(121));
    await page.waitForFunction(`document.activeElement.id === 'p121'`);
    for (const [size, width] of [
      ['tablet', 768],
      ['phone', 360],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await lookAt(page, 'long-document', size);
    }
    await page.setViewportSize({ width: 1280, height: 720 });
    window.assertFaultless();
  });

  it('says that it was replaced after the reply, with what the reply cited', async () => {
    const { page } = window;
    const before = new Date(Date.now() - 86_400_000).toISOString();
    await page.goto(citing('In chapter 7 a parcel weighs 7 kilograms.', before));
    const note = page.getByRole('note');
    await shown(note.getByText('This document was replaced'));
    assert.equal(await note.locator('blockquote').count(), 0);
    await page.goto(citing('Parcels are carried by pigeons.', before));
    await shown(note.getByText('Parcels are carried by pigeons.'));
    await lookAt(page, 'replaced-document');
    window.assertFaultless();
  });

  it('opens in its own organization for a person who is in another one', async () => {
    const { service, acme, globex } = world;
    const guest = await signedInMember(service, globex, world.email('gia'), 'member');
    const { invitation } = await service.skein('member', 'add', acme, world.email('gia'));
    assertDone(await guest.acceptInvitation(invitation, testPassword));
    const there = await openAs(browser, guest);
    const switcher = there.page.getByRole('button', { name: /^Switch organization/ });
    await there.page.goto('/');
    await shown(switcher.filter({ hasText: 'Globex' }));
    await there.page.goto(citing('In chapter 70 a parcel weighs 70 kilograms.'));
    await shown(there.page.getByRole('region', { name: 'Passage 70, cited', exact: true }));
    await shown(switcher.filter({ hasText: 'Acme' }));
    await there.page.goto('/documents/doc_missing');
    await shown(heading(there.page, 'Document not found'));
    await there.close();
  });

  it('is not shown to another organization, or once it is removed', async () => {
    const eve = await openAs(browser, world.eve.client);
    await eve.page.goto(`/documents/${id}`);
    await shown(heading(eve.page, 'Document not found'));
    await eve.close();
    await window.page.goto('/documents/doc_none');
    await shown(heading(window.page, 'Document not found'));
    window.assertFaultless();
  });
});

describe('The documents page', () => {
  const { world, window, dialog, button, row } = openSettingsWindow();

  it('accepts documents by drag and drop, rejects unreadable files, and removes documents', async () => {
    const { page } = window();
    await page.goto('/settings/documents');
    await shown(page.getByText('No documents yet'));
    await page.getByRole('combobox', { name: 'Account' }).fill('acme-eu');
    const files = page.getByLabel('Add files');
    await files.setInputFiles([
      { name: 'returns.md', mimeType: 'text/markdown', buffer: Buffer.from('# Returns\n\nWithin 30 days.') },
      { name: 'broken.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7 nothing') },
      { name: 'photo.png', mimeType: 'image/png', buffer: Buffer.from('no text') },
    ]);
    const upload = (name: string) =>
      page.getByRole('list', { name: 'Uploads' }).getByRole('listitem').filter({ hasText: name });
    await shown(upload('returns.md').getByText(/^Added, 1 passage/));
    await shown(upload('photo.png').getByText(/Unsupported file type\. Use \.md, .*, \.pdf$/));
    await shown(upload('broken.pdf').getByText(/PDF|read/i));
    await shown(row('returns.md').getByText('acme-eu'));
    assert.equal(await row('broken.pdf').count(), 0);
    await lookAt(page, 'uploads');

    await page.getByRole('combobox', { name: 'Account' }).fill('');
    // As text, because this file is compiled without browser types.
    const dragged = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(['# Hours\\n\\nFrom nine to five.'], 'hours.md'));
      return transfer;
    })()`);
    await page.getByText('Drop files here').dispatchEvent('drop', { dataTransfer: dragged });
    await shown(row('hours.md').getByText('General'));
    const show = async (choice: string) => {
      await page.getByRole('combobox', { name: 'Show' }).click();
      await page.getByRole('option', { name: choice }).click();
    };
    await show('Account acme-eu');
    await shown(row('returns.md'));
    assert.equal(await row('hours.md').count(), 0);
    await show('All documents');
    await shown(row('hours.md'));

    const search = page.getByRole('searchbox', { name: 'Filter documents' });
    const spare = await search.evaluate((field: any) => {
      const filters = field.closest('.mantine-Group-root');
      const heights = [...filters.children].map(({ offsetHeight }) => offsetHeight);
      return filters.offsetHeight - Math.max(...heights);
    });
    assert.equal(spare, 0, 'the filters are as high as the highest of them');
    await search.fill('nothing like this');
    await shown(page.getByText('No matching documents'));
    await search.fill('hours');
    await gone(row('returns.md'));
    await search.fill('');
    await page.getByRole('button', { name: 'Document', exact: true }).click();
    const names = () => page.getByRole('table').getByText(/\.md$/).allInnerTexts();
    assert.deepEqual(await names(), ['hours.md', 'returns.md']);
    await page.getByRole('button', { name: 'Document', exact: true }).click();
    assert.deepEqual(await names(), ['returns.md', 'hours.md']);

    const newFile = page.getByLabel('New file for hours.md');
    await newFile.setInputFiles({
      name: 'new-hours.md',
      mimeType: 'text/markdown',
      buffer: Buffer.from('# New hours\n\nThe shop opens at ten.'),
    });
    await shown(row('hours.md').getByText('New hours'));
    assert.equal(await newFile.inputValue(), '', 'the same file can be chosen again');
    await page.getByLabel('Question to test').fill('When does the shop open?');
    await page.getByLabel('Question to test').press('Enter');
    await shown(page.getByRole('list', { name: 'Passages found' }).getByText('The shop opens at ten.'));
    await untilAnnounced(page, '1 passage found');
    await lookAt(page, 'documents-tested');

    const selectAll = page.getByRole('checkbox', { name: 'Select all 2' });
    await page.getByRole('checkbox', { name: 'Select returns.md' }).check();
    await shown(button('Remove 1 selected'));
    await selectAll.check();
    await shown(button('Remove 2 selected'));
    await selectAll.uncheck();
    await gone(button('Remove 2 selected'));
    for (const name of ['returns.md', 'hours.md']) {
      await page.getByRole('checkbox', { name: `Select ${name}` }).check();
    }
    assert.ok(await selectAll.isChecked());
    await button('Remove 2 selected').click();
    await shown(dialog().getByText('New replies won’t use them'));
    await button('Remove', dialog()).click();
    await dialog().waitFor({ state: 'detached' });
    await shown(page.getByText('No documents yet'));
    await untilAnnounced(page, '2 documents removed');

    // More than the page removes in one request.
    for (let number = 0; number < 101; number += 1)
      assertDone(await world().ada.upload({ name: `${number}.md` }, `# ${number}\n\nText.\n`), 201);
    await page.reload();
    await page.getByRole('checkbox', { name: 'Select all 101' }).check();
    await button('Remove 101 selected').click();
    await button('Remove', dialog()).click();
    await shown(page.getByText('No documents yet'));
    await untilAnnounced(page, '101 documents removed');
    window().assertFaultless();
  });

  it('gives up an upload that makes no progress for five minutes', async () => {
    const { page } = window();
    await page.clock.install();
    await page.goto('/settings/documents');
    await page.route('**/documents?name=*', () => undefined);
    const sent = page.waitForRequest('**/documents?name=*');
    const file = { name: 'stuck.md', mimeType: 'text/markdown', buffer: Buffer.from('# Stuck') };
    await page.getByLabel('Add files').setInputFiles([file]);
    await sent;
    await page.clock.fastForward('05:00');
    await shown(page.getByRole('listitem').getByText(/^Can’t reach the service/));
    await page.unrouteAll();
  });
});
