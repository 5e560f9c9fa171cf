import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

const mark = '=== the next block ===';

/** Runs all blocks in one shell, as if pasted, and returns what each of them printed. */
export function transcript(blocks: readonly string[], folder: string, env: NodeJS.ProcessEnv): string[] {
  const { stdout, stderr, status } = spawnSync('sh', ['-eu'], {
    input: blocks.join(`echo '${mark}'\n`),
    cwd: folder,
    env,
    encoding: 'utf8',
    timeout: 600_000,
  });
  assert.equal(status, 0, `the shell stopped after:\n${stdout}\n${stderr}`);
  return stdout.split(`${mark}\n`);
}

/** Joins the blocks into one program whose output marks where each block starts. */
export function program(blocks: readonly string[]): string {
  return blocks.join(`console.log('${mark}');\n`);
}

/** Splits the output of such a program by block. */
export function printedBy(stdout: string): string[] {
  return stdout.split(`${mark}\n`);
}

/** Replaces ids with numbers in order of appearance, so that equal ids stay equal, and times with one word. */
export function withoutChance(outputs: readonly string[]): unknown[] {
  const seen: string[] = [];
  const numbered = (id: string) => {
    if (!seen.includes(id)) seen.push(id);
    return `${id.slice(0, 3)} ${seen.indexOf(id)}`;
  };
  return outputs
    .map((text) =>
      text
        .replaceAll(/\b(?:thr|msg)_[0-9a-z]{26}\b/g, numbered)
        .replaceAll(/"trace_id": ?"[0-9a-f-]{36}"/g, '"trace_id":"some"')
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]{12}Z/g, 'some time'),
    )
    .map((text) => (text.startsWith('{') ? JSON.parse(text) : text));
}
