import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { root, temporaryFolder } from '../../harness/service/service.ts';

describe('npm run release', () => {
  const clone = temporaryFolder();
  const git = (...words: string[]) => {
    const { status, stdout, stderr } = spawnSync('git', words, { cwd: clone, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    return stdout.trim();
  };
  const release = (...words: string[]) =>
    spawnSync(process.execPath, ['release/release.ts', ...words], { cwd: clone, encoding: 'utf8' });
  before(() => {
    // The files as they are here, committed or not.
    const { stdout } = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
      cwd: root,
      encoding: 'utf8',
    });
    const files = stdout
      .split('\n')
      .filter((file) => /package(-lock)?\.json$|^release\/|CHANGELOG|version\.ts$/.test(file));
    for (const file of files) cpSync(join(root, file), join(clone, file));
    git('init', '--quiet', '--initial-branch=main');
    git('config', 'user.email', 'tests@skein.example');
    git('config', 'user.name', 'Tests');
    git('add', '.');
    git('commit', '--quiet', '--message', 'Start');
  });

  it('shows the versions and the heading that it would write, and changes nothing', () => {
    const { status, stdout, stderr } = release('99.0.0', '--dry-run');
    assert.equal(status, 0, stderr);
    const changed = [...stdout.matchAll(/^\+\+\+ b\/(.*)$/gm)].map(([, file]) => file).sort();
    const manifests = [
      '.',
      'answers',
      'bench',
      'client',
      'console',
      'runtime',
      'server',
      'site',
      'tests',
    ].map((folder) => join(folder, 'package.json'));
    assert.deepEqual(
      changed,
      ['CHANGELOG.md', 'client/src/version.ts', 'package-lock.json', ...manifests].sort(),
    );
    const today = new Date().toISOString().slice(0, 10);
    assert.match(stdout, new RegExp(`^\\+## 99\\.0\\.0 - ${today}$`, 'm'));
    // Only versions and the heading, with the empty line above it.
    const lines = stdout.split('\n').filter((line) => /^\+(?!\+\+ )/.test(line));
    assert.deepEqual([...new Set(lines.filter((line) => !line.includes('99.0.0')))], ['+']);
    assert.equal(
      lines.filter((line) => line.includes('"version": "99.0.0"')).length,
      2 * manifests.length + 1,
    );
    assert.match(stdout, /Would run \.ci\/run, commit, tag v99\.0\.0 and pack/);
    assert.equal(git('status', '--porcelain'), '');
    assert.equal(git('tag', '--list'), '');
  });

  const refusal = (...words: string[]) => {
    const { status, stderr } = release(...words, '--dry-run');
    assert.equal(status, 1);
    return stderr;
  };

  it('rejects a version that is malformed, not above the current one, or tagged already', () => {
    const { version } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'));
    assert.match(refusal(), /name one version/);
    assert.match(refusal('v2'), /v2 is not a version such as 1\.0\.0/);
    assert.match(refusal(version), /is not above the current version/);
    git('tag', 'v98.0.0');
    assert.match(refusal('98.0.0'), /the tag v98\.0\.0 exists already/);
  });

  it('rejects another branch, uncommitted changes and an empty changelog', () => {
    git('checkout', '--quiet', '-b', 'other');
    assert.match(refusal('99.0.0'), /made on main, and this is other/);
    git('checkout', '--quiet', 'main');
    const changelog = join(clone, 'CHANGELOG.md');
    const text = readFileSync(changelog, 'utf8');
    writeFileSync(
      changelog,
      text.replace(/## Unreleased\n[\s\S]*/, '## Unreleased\n\n## 0.0.9 - 2020-01-01\n'),
    );
    assert.match(refusal('99.0.0'), /commit or remove these changes first:\n.*CHANGELOG\.md/);
    git('commit', '--quiet', '--all', '--message', 'Empty the changelog');
    assert.match(refusal('99.0.0'), /nothing under '## Unreleased'/);
    assert.equal(git('status', '--porcelain'), '');
  });
});
