import { type RetentionKind, retentionKinds } from '../../domain/retention.ts';
import type { RetentionPlace } from '../../storage/store.ts';
import type { Context } from '../context.ts';

/**
 * Removes everything that is older than the settings allow, in batches. `proceed` is called after each batch with what it
 * removed; it may take its time, and answers whether to go on.
 */
export async function enforceRetention(
  { store, kept, telemetry }: Pick<Context, 'store' | 'kept' | 'telemetry'>,
  proceed: (kind: RetentionKind, removed: number) => Promise<boolean>,
): Promise<void> {
  for (const kind of retentionKinds) {
    const keepMs = kept[kind];
    let place: RetentionPlace | null = keepMs === undefined ? null : '';
    while (place !== null) {
      const batch = await store.removeExpired(kind, keepMs!, place);
      telemetry.retentionRemoved(kind, batch.removed);
      if (!(await proceed(kind, batch.removed))) return;
      place = batch.next;
    }
  }
  telemetry.retentionPassed();
}
