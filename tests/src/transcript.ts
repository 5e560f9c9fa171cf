import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

const mark = '=== the next block ===';

/** All blocks in one shell, as they are pasted; answers what each of them printed. */
export function transcript(blocks: readonly string[], folder: string, env: NodeJS.ProcessEnv): string[] {
  const { stdout, stderr, status } = spawnSync('sh', ['-eu'], {
    input: blocks.join(`echo '${mark}'\n`),
    cwd: folder,
    env,
    encoding: 'utf8',
    timeout: 120_000,
  });
  assert.equal(status, 0, `the shell stopped after:\n${stdout}\n${stderr}`);
  return stdout.split(`${mark}\n`);
}

/** The blocks as one program that marks, in what it prints, where each begins. */
export function program(blocks: readonly string[]): string {
  return blocks.join(`console.log('${mark}');\n`);
}

/** What each block of such a program printed. */
export function printedBy(stdout: string): string[] {
  return stdout.split(`${mark}\n`);
}

/** Ids become numbers in order of appearance, so that the same id twice is still the same; times become one word. */
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
