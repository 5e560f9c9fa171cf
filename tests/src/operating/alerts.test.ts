import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findSection, tableRows } from '../../harness/documents/markdown.ts';
import { findProgram } from '../../harness/service/machine.ts';
import { root } from '../../harness/service/service.ts';
import { readAlertRules, rulesFile } from './alert-rules.ts';

const promtool = findProgram('promtool');
const skip = promtool === undefined && 'promtool is missing: install the package prometheus';

function runPromtool(...words: string[]): void {
  const { status, stdout, stderr } = spawnSync(promtool!, words, { encoding: 'utf8', cwd: root });
  assert.equal(status, 0, `${stdout}${stderr}`);
}

describe('docs/rules.yml', () => {
  const rules = readAlertRules();

  it('has a severity, a summary and a next step for every alert', () => {
    assert.ok(rules.length > 10);
    for (const { alert, labels, annotations } of rules) {
      assert.match(alert, /^Skein[A-Z]\w+$/);
      assert.match(labels.severity, /^(page|ticket)$/, alert);
      for (const text of [annotations.summary, annotations.description]) assert.match(text, /^.+\.$/, alert);
    }
  });

  it('has the alerts that docs/monitoring.md lists', () => {
    const document = readFileSync(join(root, 'docs/monitoring.md'), 'utf8');
    assert.deepEqual(
      tableRows(findSection(document, '## Alerts')),
      rules.map(({ alert, labels, annotations }) => [alert, labels.severity, annotations.description]),
    );
  });

  it('is accepted by promtool', { skip }, () => runPromtool('check', 'rules', rulesFile));

  it('fires when it should, and not before', { skip }, () =>
    runPromtool('test', 'rules', join(import.meta.dirname, 'alert-cases.yml')),
  );
});
