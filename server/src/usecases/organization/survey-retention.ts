import { type RetentionKind, retentionKinds } from '../../domain/retention.ts';
import type { Context } from '../context.ts';

export interface SurveyedRule {
  readonly kind: RetentionKind;
  /** Undefined: kept for good. */
  readonly days: number | undefined;
  /** How many rows are due for removal, up to 10,000. */
  readonly due: number;
}

export async function surveyRetention({
  store,
  kept,
}: Pick<Context, 'store' | 'kept'>): Promise<SurveyedRule[]> {
  const rules: SurveyedRule[] = [];
  for (const kind of retentionKinds) {
    const keepMs = kept[kind];
    const due = keepMs === undefined ? 0 : await store.countExpired(kind, keepMs);
    const days = keepMs === undefined ? undefined : keepMs / 86_400_000;
    rules.push({ kind, days, due });
  }
  return rules;
}
