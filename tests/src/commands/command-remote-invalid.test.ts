import { describe, it } from 'node:test';
import { runCommand, temporaryFolder } from '../../harness/service/service.ts';
import { runWithInput } from './command-input.ts';
import { assertRefused } from './refused-command.ts';

describe('An invalid remote command', { concurrency: 4 }, () => {
  const folder = temporaryFolder();
  const environment = { SKEIN_API_KEY: 'eak_any', SKEIN_BASE_URL: 'http://127.0.0.1:9' };
  const invalid: ReadonlyArray<readonly [words: string[], why: RegExp]> = [
    [['ask', 'What', 'is', 'this?'], /[Tt]oo many arguments/],
    [['ask', ''], /empty/],
    [['ask'], /[Nn]o question/],
    [['threads'], /list, get, rename/],
    [['threads', 'list', '--limit', '0'], /integer, at least 1/],
    [['threads', 'list', '--limit', '1', '--all'], /either/],
    [['threads', 'get'], /THREAD_ID/],
    [['threads', 'rename', 'thr_1'], /TITLE/],
  ];
  for (const [words, why] of invalid) {
    it(`fails with a helpful sentence: skein ${words.join(' ')}`, async () => {
      const run =
        words[0] === 'threads'
          ? runCommand(folder, words, environment)
          : runWithInput(folder, words, environment);
      assertRefused(await run, why);
    });
  }

  it('fails for a prompt that is not text', async () => {
    const outcome = await runWithInput(folder, ['ask'], environment, Buffer.from([0x48, 0xff]));
    assertRefused(outcome, /not UTF-8/);
  });
});
