import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { signedInMember, testPassword } from '../console/console-client.ts';
import { type SettingsWorld, sharedSettingsWorld } from '../console/settings-world.ts';
import { assertDone } from '../console/visitor.ts';
import { lookAt, sharedBrowser, type Window } from './browser.ts';
import { heading, openAs, shown } from './people.ts';

const part = (at: number) =>
  `## Chapter ${at}\n\n### Rules\n\nIn chapter ${at} a parcel weighs ${at} kilograms. It is sent on the next day.\n`;
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
    await page.getByRole('button', { name: 'Show earlier passages' }).click();
    await shown(passage(1));
    await passage(80).scrollIntoViewIfNeeded();
    await shown(passage(100));
    await lookAt(page, 'long-document');
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
    await shown(heading(there.page, 'Page not found'));
    await there.close();
  });

  it('is not shown to another organization, or once it is removed', async () => {
    const eve = await openAs(browser, world.eve.client);
    await eve.page.goto(`/documents/${id}`);
    await shown(heading(eve.page, 'Page not found'));
    await eve.close();
    await window.page.goto('/documents/doc_none');
    await shown(heading(window.page, 'Page not found'));
    window.assertFaultless();
  });
});
