import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';

const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8');
const filesOf = (pattern: string) => globSync(pattern, { cwd: import.meta.dirname }).sort();
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, match]) => match!);

it('Components use the classes that their style sheets define, and no style sheet defines others', () => {
  const used = new Set<string>();
  for (const file of filesOf('**/*.tsx')) {
    const source = read(file);
    for (const [, name, sheet] of source.matchAll(/import (\w+) from '(\..+\.module\.css)'/g)) {
      const path = join(dirname(file), sheet!);
      for (const style of matches(source, new RegExp(`\\b${name}\\.(\\w+)`, 'g')))
        used.add(`${path} ${style}`);
    }
  }
  const defined = new Set<string>();
  for (const sheet of filesOf('**/*.module.css'))
    for (const style of matches(read(sheet), /\.([a-z]\w*)(?=[\s,:.{[>+~)])/gi))
      defined.add(`${sheet} ${style}`);
  assert.deepEqual([...used].sort(), [...defined].sort());
});
