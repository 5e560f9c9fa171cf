import { dayMs } from '../../domain/iso-time.ts';
import { type RetentionKind, retentionKinds } from '../../domain/retention.ts';
import type { RetentionBatch, RetentionPlace } from '../../storage/store.ts';
import type { Context } from '../context.ts';

/**
 * Removes everything older than the retention settings allow, in batches. `proceed` is called after each batch. It may delay
 * the next batch, and returns false to stop.
 */
export async function enforceRetention(
  { store, kept, telemetry }: Pick<Context, 'store' | 'kept' | 'telemetry'>,
  proceed: (kind: RetentionKind, batch: RetentionBatch) => Promise<boolean>,
): Promise<void> {
  for (const kind of retentionKinds) {
    const keepMs = kept[kind];
    let place: RetentionPlace | null = keepMs === undefined ? null : '';
    while (place !== null) {
      const batch = await store.removeExpired(kind, keepMs!, place);
      telemetry.retentionRemoved(kind, batch.removed);
      if (!(await proceed(kind, batch))) return;
      place = batch.next;
    }
  }
  telemetry.retentionPassed();
}

/** The retention settings, and how many rows are due for removal, up to 10,000 of each kind. */
export async function surveyRetention({ store, kept }: Pick<Context, 'store' | 'kept'>) {
  const rules = [];
  for (const kind of retentionKinds) {
    const keepMs = kept[kind];
    rules.push({
      kind,
      /** Undefined: kept forever. */
      days: keepMs === undefined ? undefined : keepMs / dayMs,
      due: keepMs === undefined ? 0 : await store.countExpired(kind, keepMs),
    });
  }
  return rules;
}
