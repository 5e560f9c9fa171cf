import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';

const folder = join(import.meta.dirname, '..');
const readme = readFileSync(join(folder, 'README.md'), 'utf8');

function findBlock(language: string): string {
  const blocks = [...readme.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, name]) => name === language);
  assert.equal(blocks.length, 1, language);
  return blocks[0]![2]!;
}

describe('The README of answers', () => {
  it('shows example.ts, which is type-checked', () => {
    assert.equal(findBlock('ts'), readFileSync(join(folder, 'example.ts'), 'utf8'));
  });

  it('shows a program that imports only the entry file', () => {
    const imports = [...findBlock('ts').matchAll(/ from '([^']+)'/g)].map(([, path]) => path!);
    assert.deepEqual(
      imports.filter((path) => !path.startsWith('node:')),
      ['./src/index.ts'],
    );
  });

  it('shows the output of its program', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['example.ts'], { cwd: folder });
    assert.equal(stdout, findBlock('text'));
  });
});
