import assert from 'node:assert/strict';
import { cpSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { before, describe, it } from 'node:test';
import { serveAndFail } from '../../harness/service/failing-start.ts';
import { runSkein, temporaryFolder } from '../../harness/service/service.ts';
import { prepareStore } from '../../harness/world/world.ts';

describe('A file that is not a usable store', () => {
  const folder = temporaryFolder();
  const file = (name: string) => join(folder, name);
  before(async () => {
    writeFileSync(file('text.db'), 'Not a database. '.repeat(1000));
    cpSync(join((await prepareStore()).folder, 'data/skein.db'), file('truncated.db'));
    truncateSync(file('truncated.db'), 8192);
    const other = new DatabaseSync(file('other.db'));
    other.exec('CREATE TABLE bookmark (url TEXT)');
    other.close();
  });

  const reasons = {
    'text.db': 'file is not a database: choose another file or, if it was a store, restore a backup',
    'truncated.db': 'database disk image is malformed: restore a backup',
    'other.db': 'it is in use by another program: choose another one for Skein',
  };

  for (const [name, reason] of Object.entries(reasons)) {
    it(`is left as it is, and named with the reason and a remedy: ${name}`, async () => {
      const environment = { SKEIN_DATABASE_URL: `sqlite:${file(name)}` };
      const content = readFileSync(file(name));
      const served = await serveAndFail(folder, environment);
      assert.deepEqual(served, {
        exitCode: 1,
        stdout: '',
        stderr: `skein: SKEIN_DATABASE_URL points to ${file(name)}, which cannot be opened (${reason}).\n`,
      });
      const backedUp = await runSkein(folder, ['backup', 'copy.db'], environment);
      assert.deepEqual(backedUp, {
        exitCode: 1,
        stdout: '',
        stderr: `skein: Cannot read the store ${file(name)} (${reason}).\n`,
      });
      assert.deepEqual(readFileSync(file(name)), content);
    });
  }

  it('is reported as unreadable, not as missing, if its folder cannot be entered', async () => {
    // Root may enter every folder, but not follow this link.
    symlinkSync('loop', file('loop'));
    const environment = { SKEIN_DATABASE_URL: `sqlite:${file('loop/skein.db')}` };
    const copied = ['copy', '--from', environment.SKEIN_DATABASE_URL, '--to', `sqlite:${file('copy.db')}`];
    for (const words of [['org', 'list'], ['backup', 'copy.db'], copied]) {
      const { exitCode, stderr } = await runSkein(folder, words, environment);
      assert.equal(exitCode, 1);
      assert.match(
        stderr,
        /^skein: (?:Cannot read .*skein\.db|.*skein\.db, which cannot be opened) \(ELOOP: [^\n]*\)\.\n$/,
      );
    }
  });
});
