import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { relative } from 'node:path';
import { describe, it } from 'node:test';
import { root, temporaryFolder } from './service/service.ts';
import { findEntries, findTestFolders, longestFirst } from './test-folders.ts';

describe('npm test', () => {
  it('runs every test file that Git does not ignore, each once', () => {
    const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
      cwd: root,
      encoding: 'utf8',
    });
    const written = listed.split('\n').filter((path) => /\.(test|spec)\.[cm]?[jt]sx?$/.test(path));
    assert.ok(written.length > 200);
    assert.deepEqual([...findTestFolders().values()].flat().sort(), written.sort());
  });

  it('starts the folders that take longest first', () => {
    assert.deepEqual([...findTestFolders().keys()].slice(0, longestFirst.length), longestFirst);
  });

  it('starts one process for each folder, by default and for a folder that is named', () => {
    const listEntries = (...patterns: string[]) => {
      const folder = temporaryFolder();
      return findEntries(patterns, folder).map((entry) => relative(folder, entry));
    };
    assert.deepEqual(
      listEntries(),
      [...findTestFolders().keys()].map((folder) => `${folder}.mjs`),
    );
    assert.deepEqual(listEntries('tests/src/browser/'), [
      'tests/src/browser.mjs',
      'tests/src/browser/looks.mjs',
    ]);
  });

  it('rejects a name without tests', () => {
    assert.throws(() => findEntries(['tests/src/nothing'], temporaryFolder()), /no such file or folder/);
    assert.throws(() => findEntries(['docs'], temporaryFolder()), /has no test files/);
  });
});
