/**
 * `npm run release -- VERSION [--dry-run]` makes a release on main: it sets the version, dates the changelog, runs every
 * check, commits, tags and packs. It pushes and publishes nothing. If something fails, it restores the files.
 * With `--dry-run` it shows the changes and reverts them.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

// biome-ignore lint/suspicious/noExplicitAny: manifests and lock files have no types.
type Json = any;

const root = join(import.meta.dirname, '..');

const { values, positionals } = parseArgs({
  options: { 'dry-run': { type: 'boolean', default: false } },
  allowPositionals: true,
});

try {
  release(positionals, values['dry-run']);
} catch (error) {
  console.error(`release: ${(error as Error).message}`);
  process.exitCode = 1;
}

function release([version, ...rest]: string[], dryRun: boolean): void {
  if (version === undefined || rest.length > 0) throw new Error('name one version, as in 1.0.0.');
  rejectUnfitState(version);
  try {
    writeVersion(version);
    edit('CHANGELOG.md', (text) => withHeading(text, version));
    if (dryRun) {
      console.log(git('diff', '--unified=0', '--no-color'));
      console.log(`Would run .ci/run, commit, tag v${version} and pack.`);
      return;
    }
    execFileSync('.ci/run', { cwd: root, stdio: 'inherit' });
    git('commit', '--quiet', '--all', '--message', `Release ${version}`);
  } finally {
    // After a commit there is nothing to restore.
    git('checkout', '--quiet', '--', '.');
  }
  git('tag', '--annotate', `v${version}`, '--message', `Skein ${version}`);
  execFileSync('npm', ['run', '--silent', 'pack'], { cwd: root, stdio: 'inherit' });
  console.log(`Tagged v${version}. To publish: git push --follow-tags, then npm publish the files in dist.`);
}

function rejectUnfitState(version: string): void {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`${version} is not a version such as 1.0.0.`);
  const { version: current } = JSON.parse(read('package.json'));
  if (compare(version, current) <= 0)
    throw new Error(`${version} is not above the current version, ${current}.`);
  const branch = git('rev-parse', '--abbrev-ref', 'HEAD');
  if (branch !== 'main') throw new Error(`releases are made on main, and this is ${branch}.`);
  const changes = git('status', '--porcelain');
  if (changes !== '') throw new Error(`commit or remove these changes first:\n${changes}`);
  if (git('tag', '--list', `v${version}`) !== '') throw new Error(`the tag v${version} exists already.`);
}

/** Below zero if `a` is the lower version. */
function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number)) as [number[], number[]];
  const index = left.findIndex((part, place) => part !== right[place]);
  return index === -1 ? 0 : (left[index] as number) - (right[index] as number);
}

/** Sets the version of every workspace, in its manifest and in the lock file, and the one that the client sends. */
function writeVersion(version: string): void {
  const { workspaces } = JSON.parse(read('package.json')) as { workspaces: string[] };
  for (const folder of ['.', ...workspaces]) {
    editJson(join(folder, 'package.json'), (manifest) => ({ ...manifest, version }));
  }
  editJson('package-lock.json', (lock) => {
    for (const folder of ['', ...workspaces]) lock.packages[folder].version = version;
    return { ...lock, version };
  });
  edit('client/src/version.ts', (text) => text.replace(/'.+'/, `'${version}'`));
}

/** Gives the unreleased changes the version and today's date. */
function withHeading(changelog: string, version: string): string {
  const unreleased = '## Unreleased\n';
  const [before, after] = changelog.split(unreleased) as [string, string?];
  if (after === undefined || /^\s*(## |$)/.test(after)) {
    throw new Error("CHANGELOG.md has nothing under '## Unreleased'.");
  }
  const today = new Date().toISOString().slice(0, 10);
  return `${before}${unreleased}\n## ${version} - ${today}\n${after}`;
}

function editJson(file: string, change: (content: Json) => Json): void {
  edit(file, (text) => `${JSON.stringify(change(JSON.parse(text)), null, 2)}\n`);
}

function edit(file: string, change: (text: string) => string): void {
  writeFileSync(join(root, file), change(read(file)));
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

function git(...words: string[]): string {
  return execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim();
}
