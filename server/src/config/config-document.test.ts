import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { formatBytes } from '../../../runtime/src/pure/text.ts';
import { defaultLimits, limitEntries } from '../domain/limits.ts';
import { variables } from './variables.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, '../../../docs', name), 'utf8');
const document = read('settings.md');

describe('docs/settings.md', () => {
  it('lists every variable with its default and its meaning, in the order of variables.ts', () => {
    const documented = document.split('\n').filter((line) => line.startsWith('| `SKEIN_'));
    const sentences = new Map(limitEntries.map(([, { variable, sentence }]) => [`${variable}`, sentence]));
    const rows = Object.entries(variables).map(([name, { default: fallback }], index) => {
      const meaning = sentences.get(name) ?? /\| ([\w`][^|]*) \|$/.exec(documented[index] ?? '')?.[1];
      return fallback === ''
        ? `| \`${name}\` | | ${meaning} |`
        : `| \`${name}\` | \`${fallback}\` | ${meaning} |`;
    });
    assert.deepEqual(documented, rows);
  });

  it('lists every fixed limit with its value', () => {
    const table = document.split('| fixed limit | value |\n|---|---|\n')[1]?.split('\n\n')[0];
    const fixed = limitEntries.filter(([, { variable }]) => variable === undefined);
    assert.equal(table, fixed.map(([, limit]) => `| ${limit.sentence} | ${limit.default} |`).join('\n'));
  });
});

describe('docs/security.md', () => {
  it('states the current limits that separate tenants', () => {
    const text = read('security.md').replaceAll(/\s+/g, ' ');
    const count = (limit: keyof typeof defaultLimits) => defaultLimits[limit].toLocaleString('en');
    for (const stated of [
      `${count('bodyDepthMax')} levels and ${count('bodyKeysMax')} keys`,
      `bodies of at most ${defaultLimits.openBodyBytesMax / 1024} KB`,
      `each with ${defaultLimits.documentReadMs / 1000} s and ${count('documentReadMb')} MB`,
      `${count('documentPassagesMax')} passages and ${count('documentLengthMax')} stored characters`,
      `${count('organizationDocumentsMax')} documents and ${formatBytes(defaultLimits.organizationBytesMax)}`,
      `A thread has at most ${count('threadMessagesMax')} messages`,
      `stay within ${formatBytes(defaultLimits.threadBytesMax)}`,
      `${count('consolePromptsPerMinute')} prompts a minute and ${count('consolePromptsPerDay')} a day`,
    ]) {
      assert.ok(text.includes(stated), `docs/security.md does not say: ${stated}`);
    }
  });
});
