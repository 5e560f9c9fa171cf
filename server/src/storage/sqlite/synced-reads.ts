import type { Store } from '../port/store.ts';
import type { CommitQueue, Scope } from './commit-queue.ts';

/**
 * Callers poll, so a read must not show a commit that a power cut could take back. A method that names an organization
 * returns only when every commit that it may have seen is on the disk: it waits for the running sync and the next one at most,
 * and not for other organizations or, if it names a thread, other threads. Methods that name none do not wait, such as
 * admissions and sweeps.
 */
export function syncedReads(store: Store, commits: CommitQueue): Store {
  async function callInScope(scope: Scope, call: () => Promise<unknown>): Promise<unknown> {
    const value = await commits.inScope(scope, call);
    const synced = commits.whenSynced(scope);
    if (synced !== undefined) await synced;
    return value;
  }

  const wrapped = Object.entries(store).map(([name, method]) => {
    const call = method as (...values: unknown[]) => Promise<unknown>;
    const synced = (...values: unknown[]) => {
      const scope = scopeOf(values);
      return scope === undefined ? call(...values) : callInScope(scope, () => call(...values));
    };
    return [name, synced];
  });
  return Object.fromEntries(wrapped) as Store;
}

/** By the convention of the store port: the organization comes first, then the thread. A claim names both. */
function scopeOf([first, second]: readonly unknown[]): Scope | undefined {
  if (hasPrefix(first, 'org_')) {
    const thread = (second as { id?: unknown } | undefined)?.id ?? second;
    return { organizationId: first, threadId: hasPrefix(thread, 'thr_') ? thread : undefined };
  }
  const { organizationId, threadId } = (first ?? {}) as Partial<Scope>;
  return organizationId === undefined ? undefined : { organizationId, threadId };
}

function hasPrefix(value: unknown, prefix: string): value is string {
  return typeof value === 'string' && value.startsWith(prefix);
}
