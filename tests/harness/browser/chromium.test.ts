import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chromium } from 'playwright-core';
import { findChromium } from './chromium.ts';

describe('The browser of the tests', () => {
  it('comes from npm if the machine has none, and shows a page', async (test) => {
    if (process.arch !== 'x64') return test.skip(`npm has no Chromium for ${process.arch}`);
    const { PATH, CHROMIUM_PATH } = process.env;
    test.after(() => {
      process.env.PATH = PATH;
      if (CHROMIUM_PATH !== undefined) process.env.CHROMIUM_PATH = CHROMIUM_PATH;
    });
    process.env.PATH = '';
    delete process.env.CHROMIUM_PATH;
    const { executable, environment } = await findChromium();
    assert.match(executable, /skein-chromium/);
    const browser = await chromium.launch({
      executablePath: executable,
      env: environment,
      args: ['--no-sandbox', '--disable-gpu'],
    });
    test.after(() => browser.close());
    const page = await browser.newPage();
    await page.setContent('<h1>Skein</h1>');
    assert.equal(await page.getByRole('heading').innerText(), 'Skein');
    assert.ok((await page.screenshot()).length > 1000);
  });

  it('is rejected by name if CHROMIUM_PATH does not name a program that runs', async (test) => {
    const before = process.env.CHROMIUM_PATH;
    test.after(() => {
      if (before === undefined) delete process.env.CHROMIUM_PATH;
      else process.env.CHROMIUM_PATH = before;
    });
    process.env.CHROMIUM_PATH = import.meta.filename;
    await assert.rejects(findChromium(), /CHROMIUM_PATH/);
  });
});
