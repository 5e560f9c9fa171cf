import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { exempt, pages, type Sample, toRun } from '../../../harness/documents/samples.ts';
import { Stage } from '../../../harness/documents/stage.ts';
import { printedBy, program, transcript, withoutChance } from '../../../harness/documents/transcript.ts';
import { root, temporaryFolder } from '../../../harness/service/service.ts';

const withCommands = toRun('sh');
const withPrograms = toRun('ts');
const samplesIn = (among: typeof pages, page: string) =>
  among.find((candidate) => candidate.page === page)?.samples ?? [];
const toProgramName = (page: string) => `${basename(page, '.md')}.ts`;

describe('The samples of the documentation', () => {
  // `npm test` has already built the client; a test file that is run alone needs this.
  before(() => execFileSync(process.execPath, [join(root, 'client/build.ts')]));

  it('exist, and few are exempt, each with a reason', () => {
    assert.ok(withCommands.length >= 8 && withPrograms.length >= 5);
    // Two pages are about what a test cannot have: a cluster, a container engine, systemd.
    assert.ok(new Set(exempt.map(({ page }) => page)).size <= 6);
    for (const { page, text, because } of exempt) {
      assert.ok(because.length > 20, page);
      assert.ok(
        samplesIn(pages, page).some((sample) => sample.text.trim() === text.trim()),
        `${page} has no '${text}'`,
      );
    }
  });

  for (const page of new Set([...withCommands, ...withPrograms].map(({ page }) => page))) {
    it(`of ${page} run, first in one shell and then as one TypeScript program, and print what the page says`, async (t) => {
      const stage = await Stage.set();
      t.after(() => stage.strike());
      for (const [name, text] of programsToSave(page)) {
        writeFileSync(join(stage.folder, name), stage.filledIn(text));
      }
      const commands = samplesIn(withCommands, page);
      const blocks = commands.map(({ text }) => stage.filledIn(text));
      assertPrinted(commands, transcript(blocks, stage.folder, stage.environment));
      const programs = samplesIn(withPrograms, page);
      if (programs.length > 0) assertPrinted(programs, runProgram(stage, page, programs));
    });
  }

  it('in TypeScript compile in strict mode', () => {
    const folder = temporaryFolder();
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const files = withPrograms.map(({ page, samples }) => {
      writeFileSync(join(folder, toProgramName(page)), program(samples.map(({ text }) => text)));
      return toProgramName(page);
    });
    const rules = '--strict --noEmit --module nodenext --target es2023 --types node'.split(' ');
    const types = ['--typeRoots', join(root, 'node_modules/@types')];
    const tsc = join(root, 'node_modules/.bin/tsc');
    const { stdout, status } = spawnSync(tsc, [...rules, ...types, ...files], {
      cwd: folder,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout);
  });
});

function runProgram(stage: Stage, page: string, samples: readonly Sample[]): string[] {
  const file = toProgramName(page);
  writeFileSync(join(stage.folder, file), program(samples.map(({ text }) => stage.filledIn(text))));
  const { stdout, stderr, status } = spawnSync(process.execPath, [file], {
    cwd: stage.folder,
    env: stage.environment,
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.equal(status, 0, stderr);
  return printedBy(stdout);
}

/** Where the page says what a block prints, that is what it printed. */
function assertPrinted(samples: readonly Sample[], printed: readonly string[]): void {
  assert.equal(printed.length, samples.length);
  const shown = samples.flatMap(({ output }, index) =>
    output === undefined ? [] : [{ said: output, printed: printed[index] as string }],
  );
  assert.deepEqual(
    withoutChance(shown.map((block) => block.printed)),
    withoutChance(shown.map((block) => block.said)),
  );
}

/** Programs that the reader should save: the first line names the file. */
function programsToSave(page: string): [string, string][] {
  return samplesIn(pages, page).flatMap(({ language, text }) => {
    const [, name] = /^\/\/ ([\w-]+\.ts)\n/.exec(text) ?? [];
    return language === 'ts' && name !== undefined ? [[name, text] as [string, string]] : [];
  });
}
