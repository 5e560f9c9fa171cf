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
export function scopeOf([first, second]: readonly unknown[]): Scope | undefined {
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
