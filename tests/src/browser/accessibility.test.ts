import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { assertContrast } from '../../harness/browser/accessibility.ts';
import { sharedBrowser } from '../../harness/browser/browser.ts';

describe('The contrast check of the tests', () => {
  let page: Page;
  before(async () => {
    page = await (await sharedBrowser()).newPage();
  });
  after(() => page?.close());

  async function check(body: string): Promise<void> {
    await page.setContent(`<html lang="en"><title>Contrast</title><body style="background: white">${body}`);
    await assertContrast(page, 'a page');
  }

  const gray = 'color: #767676';

  it('passes text that can be read', () => check(`<p style="${gray}">Yarn</p>`));

  for (const [what, body] of [
    ['another color', '<p style="color: #999">Yarn</p>'],
    ['another background of its own', `<p style="${gray}; background: #ddd">Yarn</p>`],
    [
      'another background of an ancestor',
      `<main style="background: #ddd"><p style="${gray}">Yarn</p></main>`,
    ],
    ['less opacity', `<p style="${gray}; opacity: 0.8">Yarn</p>`],
    [
      'another element behind it',
      `<div style="position: absolute; inset: 0; background: #ddd; pointer-events: none"></div>
      <p style="${gray}; position: relative">Yarn</p>`,
    ],
  ] as const) {
    it(`fails the same text with ${what}`, () => assert.rejects(check(body), /color-contrast/));
  }

  it('fails text with the style of a disabled control, to which the rule does not apply', async () => {
    const control = (disabled: string) =>
      `<button style="color: #aaa; background: white" ${disabled}>Ask</button>`;
    await check(control('disabled'));
    await assert.rejects(check(control('')), /color-contrast/);
  });
});
