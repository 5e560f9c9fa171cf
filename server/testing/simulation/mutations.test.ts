import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { plantedBugs } from './mutations.ts';
import { simulate } from './simulate.ts';

describe('The simulation finds a planted bug', () => {
  for (const [name, { breaks, withinSeeds, mutation }] of Object.entries(plantedBugs)) {
    it(`within ${withinSeeds} seeds: ${name}`, async () => {
      for (let seed = 1; seed <= withinSeeds; seed += 1) {
        const { violation } = await simulate({ seed, steps: 3000, mutation });
        if (violation === undefined) continue;
        assert.ok(breaks.includes(violation.invariant), `${violation.invariant}: ${violation.detail}`);
        return;
      }
      assert.fail(`no invariant was broken with the seeds 1 to ${withinSeeds}`);
    });
  }

  it('and docs/proof.md lists every one', () => {
    const document = readFileSync(join(import.meta.dirname, '../../../docs/proof.md'), 'utf8');
    const [, table = ''] = /\| planted bug \| seeds \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(document) ?? [];
    const rows = Object.entries(plantedBugs).map(
      ([name, { withinSeeds }]) => `| ${name[0]!.toUpperCase()}${name.slice(1)} | ${withinSeeds} |\n`,
    );
    assert.equal(table, rows.join(''));
    assert.match(document, new RegExp(`plants ${rows.length} bugs`));
  });
});
