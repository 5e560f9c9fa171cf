import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  cleanEnvironment,
  launcher,
  operate,
  runCommand,
  runSkein,
  temporaryFolder,
} from '../../harness/service/service.ts';
import { assertRefused } from './refused-command.ts';

describe('An invalid command line', { concurrency: 4 }, () => {
  const folder = temporaryFolder();
  const invalid: ReadonlyArray<readonly [words: string, message: RegExp]> = [
    ['dance', /skein help/],
    ['org dance', /skein help/],
    ['thread list', /Did you mean 'threads list'\? Run 'skein help'/],
    ['org create', /NAME/],
    ['org create A B', /too many arguments/i],
    ['org create A --api maybe', /on, off/],
    ['org create A --quota many', /integer/],
    ['org create A --quota -5', /It must be an integer, at least 0\./],
    ['org create A --quota', /quota/],
    ['org create A --color red', /--color/],
    ['org set A', /--api on\|off/],
    ['org list A', /too many arguments/i],
    ['thread publish A', /THREAD_ID/],
    ['app create', /--name/],
    ['app rotate A', /CLIENT_ID/],
    ['app delete A', /CLIENT_ID/],
    ['app dance', /skein help/],
    ['signing-key rotate now', /too many arguments/i],
    ['signing-key rotate --forge', /--forge/],
    ['serve --role king', /all, api, worker/],
    ['serve now', /too many arguments/i],
    ['doctor --loud', /--loud/],
  ];
  const asTyped = ['dance', 'org create', 'serve now'];
  for (const [words, message] of invalid) {
    it(`fails with a helpful sentence: skein ${words}`, async () => {
      const run = asTyped.includes(words) ? runSkein : runCommand;
      assertRefused(await run(folder, words.split(' ')), message);
    });
  }

  it('fails for a name that cannot be stored', async () => {
    assertRefused(await runSkein(folder, ['org', 'create', 'x'.repeat(256)]), /characters/);
    assertRefused(await runCommand(folder, ['org', 'create', '']), /empty/);
  });
});

describe('Something that is shown once', () => {
  it('can be revoked or replaced if it could not be shown, and the command says how', async () => {
    const folder = temporaryFolder();
    const email = 'ada@example.com';
    const { id } = await operate(folder, ['org', 'create', 'Acme']);
    const full = openSync('/dev/full', 'w');
    const lose = (...words: string[]) => {
      const options = { cwd: folder, env: cleanEnvironment({}), encoding: 'utf8' } as const;
      const { status, stderr } = spawnSync(launcher, words, { ...options, stdio: ['ignore', full, 'pipe'] });
      assert.equal(status, 1, stderr);
      assert.match(stderr, /\nskein: ENOSPC: [^\n]*\n$/);
      return stderr;
    };
    assert.ok(lose('member', 'add', id, email).includes(`'skein member invite ${id} ${email}' creates`));
    const again = await runCommand(folder, ['member', 'add', id, email]);
    assertRefused(again, new RegExp(`is already a member: 'skein member invite ${id} ${email}' creates`));

    const lost = lose('key', 'create', id, '--user', email);
    const [command = '', keyId = ''] = /skein (?:key revoke \w+ (key_\w+))/.exec(lost) ?? [];
    await operate(folder, command.split(' ').slice(1));
    const [key, ...others] = await operate(folder, ['key', 'list', id]);
    assert.deepEqual([key.id, others], [keyId, []]);
    assert.notEqual(key.revokedAt, null);

    assert.match(
      lose('app', 'create', id, '--name', 'report'),
      /'skein app rotate \w+ app_\w+' creates another/,
    );
    closeSync(full);
  });
});

describe('A misspelled variable', () => {
  it('is reported on standard error by every command, and does not affect its JSON', async () => {
    const environment = { SKEIN_PROT: '1' };
    const words = ['org', 'create', 'Acme', '--json'];
    const { exitCode, stdout, stderr } = await runSkein(temporaryFolder(), words, environment);
    assert.equal(exitCode, 0, stderr);
    assert.match(JSON.parse(stdout).id, /^org_/);
    assert.equal(stderr, 'ignoring unknown setting SKEIN_PROT: did you mean SKEIN_PORT?\n');
  });
});

describe('skein help', () => {
  it('is shown for no arguments, help and --help, and names every command', async () => {
    const folder = temporaryFolder();
    const [bare, help, option] = await Promise.all(
      [[], ['help'], ['--help']].map((words) => runSkein(folder, words)),
    );
    assert.equal(help?.exitCode, 0);
    assert.deepEqual(bare, help);
    assert.deepEqual(option, help);
    for (const command of [
      'serve',
      'org create',
      'org set',
      'org list',
      'member add',
      'member remove',
      'member list',
      'key create',
      'key revoke',
      'key list',
      'app create',
      'app rotate',
      'app delete',
      'app list',
      'signing-key rotate',
      'thread publish',
      'thread unpublish',
      'usage',
      'audit',
      'doctor',
    ]) {
      assert.ok(help?.stdout.includes(`  ${command} `), command);
    }
  });
});
