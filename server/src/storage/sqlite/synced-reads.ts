import type { Store } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import { scopeOf } from './scopes.ts';

/**
 * Callers poll, so a read must not show a commit that a power cut could take back. A method that names an organization
 * answers only when every commit that it may have seen is on the disk: it waits for one sync at most, and not for
 * commits of other organizations or, if it names a thread, of other threads.
 *
 * Methods that name no organization do not wait: admissions, sessions, sweeps and the operator's lists.
 */
export function syncedReads(store: Store, commits: CommitQueue): Store {
  const wrapped = Object.entries(store).map(([name, method]) => {
    const call = method as (...values: unknown[]) => unknown;
    const synced = (...values: unknown[]): unknown => {
      const scope = scopeOf(values);
      if (scope === undefined) return call(...values);
      return afterSync(commits.inScope(scope, () => call(...values)) as Promise<unknown>, () =>
        commits.whenSynced(scope),
      );
    };
    return [name, synced];
  });
  return Object.fromEntries(wrapped) as Store;
}

async function afterSync<T>(result: Promise<T>, whenSynced: () => Promise<void> | undefined): Promise<T> {
  const value = await result;
  const synced = whenSynced();
  if (synced !== undefined) await synced;
  return value;
}
