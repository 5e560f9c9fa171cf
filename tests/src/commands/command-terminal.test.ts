import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { findProgram } from '../../harness/service/machine.ts';
import {
  cleanEnvironment,
  launcher,
  operate,
  runSkein,
  temporaryFolder,
} from '../../harness/service/service.ts';

const folder = temporaryFolder();
const csi = '\u001b[';

/** How each shell is asked what it would offer. `$LINE` is the command line, `$SCRIPT` the completion script. */
const shells: Readonly<Record<string, string>> = {
  bash: `source "$SCRIPT"
    read -ra COMP_WORDS <<< "$LINE"; [[ $LINE == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 )); COMP_LINE=$LINE; COMP_POINT=\${#LINE}; _skein "\${COMP_WORDS[0]}"
    printf '%s\\n' "\${COMPREPLY[@]}"`,
  // Outside an interactive shell there is no completion system, so its two functions print.
  zsh: `compdef() { :; }; _describe() { print -l -- "\${(@P)2}" | cut -d: -f1 | grep -e "^\${words[CURRENT]}"; }; _files() { ls; }
    source "$SCRIPT"
    words=(\${(z)LINE}); [[ $LINE == *' ' ]] && words+=('')
    CURRENT=\${#words}; _skein`,
  fish: 'source $SCRIPT; complete -C "$LINE" | cut -f1',
};

describe('Shell completion', () => {
  const offers: ReadonlyArray<readonly [line: string, offered: readonly string[]]> = [
    ['skein doc', ['doc', 'doctor']],
    ['skein thread', ['thread', 'threads']],
    ['skein org ', ['create', 'list', 'set']],
    ['skein org c', ['create']],
    ['~/bin/skein org c', ['create']],
    ['skein org create X --', ['--api', '--help', '--json', '--quota']],
    ['skein org create X --api ', ['off', 'on']],
    ['skein org create X --api on --qu', ['--quota']],
    ['skein threads list ', ['--account', '--all', '--help', '--json', '--limit']],
    ['skein key rotate A B --old-valid-for ', ['1h', '24h', '7d', 'now']],
    ['skein doc add Acme --acc', ['--account']],
  ];
  for (const [shell, program] of Object.entries(shells)) {
    const missing = findProgram(shell) === undefined && `${shell} is not installed`;
    it(`offers commands, flags and values in ${shell}`, { skip: missing }, async () => {
      const script = join(folder, `skein.${shell}`);
      const { exitCode, stdout, stderr } = await runSkein(folder, ['completion', shell]);
      assert.equal(exitCode, 0, stderr);
      writeFileSync(script, stdout);
      const home = temporaryFolder();
      mkdirSync(join(home, 'bin'));
      symlinkSync(launcher, join(home, 'bin/skein'));
      const complete = (line: string) => {
        const env = cleanEnvironment({ SCRIPT: script, LINE: line, HOME: home });
        env.PATH = `${dirname(launcher)}:${env.PATH}`;
        const outcome = spawnSync(shell, ['-c', program], { cwd: folder, env, encoding: 'utf8' });
        assert.equal(outcome.stderr, '', line);
        return outcome.stdout
          .split('\n')
          .filter((word) => word !== '')
          .sort();
      };
      for (const [line, offered] of offers) assert.deepEqual(complete(line), offered, line);
      const top = complete('skein ');
      for (const word of ['ask', 'completion', 'key', 'org', 'serve', 'threads'])
        assert.ok(top.includes(word), word);
      // Bash completes files by itself when nothing is offered.
      assert.equal(complete('skein backup ').includes(`skein.${shell}`), shell !== 'bash');
    });
  }
});

describe('On a terminal', { skip: findProgram('script') === undefined && 'script is not installed' }, () => {
  before(async () => {
    await operate(folder, ['org', 'create', 'Acme', '--api', 'off']);
  });

  /** Runs `skein` with a pseudo-terminal for its output. */
  function onTerminal(words: string, environment: Record<string, string> = {}): string {
    const {
      NO_COLOR: _no,
      FORCE_COLOR: _force,
      // Node.js prints no colors for a CI system that it does not know.
      CI: _ci,
      ...env
    } = cleanEnvironment({ TERM: 'xterm-256color', ...environment });
    // `NO_COLOR` counts only if it is set here.
    const { stdout } = spawnSync('script', ['-qec', `${launcher} ${words}`, '/dev/null'], {
      cwd: folder,
      env: { ...env, ...environment },
      encoding: 'utf8',
    });
    return stdout.replaceAll('\r\n', '\n');
  }
  const heading = /^ID +NAME +API +QUOTA\norg_\w+ +Acme +API disabled +10,000 requests a day\n$/;

  it('a table has headings and colors, and in a pipe only its rows', async () => {
    const shown = onTerminal('org list');
    assert.ok(shown.includes(csi), shown);
    assert.match(stripVTControlCharacters(shown), heading);
    const { stdout } = await runSkein(folder, ['org', 'list']);
    assert.match(stdout, /^org_\w+ {2}Acme {2}API disabled {2}10,000 requests a day\n$/);
  });

  it('NO_COLOR and TERM=dumb turn colors off, and FORCE_COLOR turns them on in a pipe', async () => {
    for (const environment of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
      assert.match(onTerminal('org list', environment), heading);
      assert.ok(!onTerminal('help', environment).includes(csi));
      assert.ok(!onTerminal('dance', environment).includes(csi));
    }
    const { stdout } = await runSkein(folder, ['org', 'list'], { FORCE_COLOR: '1' });
    assert.ok(stdout.includes(`${csi}33mAPI disabled${csi}`), stdout);
    assert.ok(!stdout.includes('QUOTA'));
  });

  it('the help and errors have colors, and the same words as in a pipe', async () => {
    const help = onTerminal('org create --help');
    assert.ok(help.includes(`${csi}1mExamples:`), help);
    assert.ok(onTerminal('dance').startsWith(`${csi}31mskein:`));
    assert.equal(
      stripVTControlCharacters(help),
      (await runSkein(folder, ['org', 'create', '--help'])).stdout,
    );
  });
});

describe('skein --version', () => {
  it('prints the version alone', async () => {
    for (const flag of ['--version', '-V']) {
      assert.match((await runSkein(folder, [flag])).stdout, /^\d+\.\d+\.\d+\S*\n$/);
    }
  });
});
