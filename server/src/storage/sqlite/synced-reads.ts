import type { Store } from '../store.ts';

/** The part of the commit queue that reads use. */
interface Commits {
  inScope<T>(scope: Scope, act: () => T): T;
  whenSynced(scope: Scope): Promise<void> | undefined;
}

/**
 * Callers poll, so a read must not show a commit that a power cut could take back. A method that names an organization
 * returns only when every commit that it may have seen is on the disk: it waits for one sync at most, and not for
 * commits of other organizations or, if it names a thread, of other threads.
 *
 * Methods that name no organization do not wait: admissions, sessions, sweeps and the operator's lists.
 */
export function syncedReads(store: Store, commits: Commits): Store {
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

/** What a store method reads or changes: one thread of an organization, or anything of the organization. */
export interface Scope {
  readonly organizationId: string;
  readonly threadId?: string | undefined;
}

/** The scopes of writes. An undefined scope is the whole store. */
export class Scopes {
  #isEverything = false;
  readonly #organizations = new Set<string>();
  /** Those with a write that is not limited to a thread. */
  readonly #wholeOrganizations = new Set<string>();
  readonly #threads = new Set<string>();

  add(scope: Scope | undefined): void {
    if (scope === undefined) this.#isEverything = true;
    else {
      this.#organizations.add(scope.organizationId);
      if (scope.threadId === undefined) this.#wholeOrganizations.add(scope.organizationId);
      else this.#threads.add(scope.threadId);
    }
  }

  /** Whether a read in this scope may see one of the writes. */
  has({ organizationId, threadId }: Scope): boolean {
    if (this.#isEverything) return true;
    if (threadId === undefined) return this.#organizations.has(organizationId);
    return this.#threads.has(threadId) || this.#wholeOrganizations.has(organizationId);
  }
}

/** By the convention of the store port: the organization comes first, then the thread. A claim names both. */
function scopeOf([first, second]: readonly unknown[]): Scope | undefined {
  if (isText(first) && first.startsWith('org_')) {
    const thread = isText(second) ? second : (second as { id?: unknown } | undefined)?.id;
    return {
      organizationId: first,
      threadId: isText(thread) && thread.startsWith('thr_') ? thread : undefined,
    };
  }
  const { organizationId, threadId } = (first ?? {}) as Partial<Scope>;
  return organizationId === undefined ? undefined : { organizationId, threadId };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
