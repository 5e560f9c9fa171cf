import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { variables } from './config.ts';
import { limitEntries } from './domain/limits.ts';

const document = readFileSync(join(import.meta.dirname, '../../docs/operating.md'), 'utf8');

describe('docs/operating.md', () => {
  it('names every setting with its default and its meaning, in the order of config.ts', () => {
    const documented = document.split('\n').filter((line) => line.startsWith('| `SKEIN_'));
    const rows = Object.entries(variables).map(([name, { default: fallback, meaning }]) =>
      fallback === '' ? `| \`${name}\` | | ${meaning} |` : `| \`${name}\` | \`${fallback}\` | ${meaning} |`,
    );
    assert.deepEqual(documented, rows);
  });

  it('names every fixed limit with its value', () => {
    const table = document.split('| fixed limit | value |\n|---|---|\n')[1]?.split('\n\n')[0];
    const fixed = limitEntries.filter(([, { variable }]) => variable === undefined);
    assert.equal(table, fixed.map(([, limit]) => `| ${limit.sentence} | ${limit.default} |`).join('\n'));
  });
});
