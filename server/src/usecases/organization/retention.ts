import { dueAgeMs, type RetentionKind, type RetentionMs, retentionKinds } from '../../domain/retention.ts';
import type { Telemetry } from '../../domain/telemetry.ts';
import { dayMs } from '../../domain/time.ts';
import type { RetentionBatch, RetentionPlace, Store } from '../../storage/port/store.ts';

interface RetentionNeeds {
  readonly store: Pick<Store, 'clockAheadMs' | 'removeExpired' | 'countExpired'>;
  readonly retentionMs: RetentionMs;
  readonly telemetry: Pick<Telemetry, 'retentionRemoved' | 'retentionPassed'>;
}

export type Retention = ReturnType<typeof createRetention>;

export function createRetention({ store, retentionMs, telemetry }: RetentionNeeds) {
  return { keptMs: retentionMs, enforce, survey };

  /** Removes what is older than retention allows. `proceed` is called after each batch, and returns false to stop. */
  async function enforce(
    proceed: (kind: RetentionKind, batch: RetentionBatch) => Promise<boolean>,
  ): Promise<void> {
    for (const kind of retentionKinds) {
      const keepMs = retentionMs[kind];
      if (keepMs === undefined) continue;
      let place: RetentionPlace | null = '';
      while (place !== null) {
        const ageMs = dueAgeMs(kind, keepMs, await store.clockAheadMs());
        const batch: RetentionBatch = await store.removeExpired(kind, ageMs, place);
        telemetry.retentionRemoved(kind, batch.removed);
        if (!(await proceed(kind, batch))) return;
        place = batch.next;
      }
    }
    telemetry.retentionPassed();
  }

  /** The retention settings, and how many rows are due for removal, up to 10,000 of each kind. */
  async function survey() {
    const aheadMs = await store.clockAheadMs();
    const rules = [];
    for (const kind of retentionKinds) {
      const keepMs = retentionMs[kind];
      rules.push({
        kind,
        days: keepMs === undefined ? undefined : keepMs / dayMs,
        due: keepMs === undefined ? 0 : await store.countExpired(kind, dueAgeMs(kind, keepMs, aheadMs)),
      });
    }
    return rules;
  }
}
