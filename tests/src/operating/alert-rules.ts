import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../../harness/service/service.ts';

interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

export const rulesFile = join(root, 'docs/rules.yml');

/** The alerts in docs/rules.yml, in order. */
export function readAlertRules(): AlertRule[] {
  const { groups } = parse(readFileSync(rulesFile, 'utf8')) as { groups: { rules: AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}
