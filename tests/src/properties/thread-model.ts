import assert from 'node:assert/strict';

export type Organization = 'home' | 'away';
export type PrincipalName = 'ada' | 'ben' | 'service' | 'carol';

/** Two users and the service identity of one organization, and a user of another. */
export const organizationNames = {
  ada: 'home',
  ben: 'home',
  service: 'home',
  carol: 'away',
} as const satisfies Record<PrincipalName, Organization>;

/** The public fields of a thread, and its creator. */
export interface ModelThread {
  readonly id: string;
  readonly organization: Organization;
  readonly owner: PrincipalName;
  readonly title: string;
  readonly accountId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string | null;
  readonly published: boolean;
  readonly deleted: boolean;
}

export interface Listing {
  readonly principal: PrincipalName;
  readonly accountId: string | undefined;
}

/** The position of a walk. It is immutable, because the same cursor can be used again later. */
export interface ModelWalk extends Listing {
  /**
   * The organization's threads (of that account) at the start of the walk, in their order at that time, including
   * hidden ones.
   */
  readonly order: readonly string[];
  readonly visibleAtStart: ReadonlySet<string>;
  /** How many of `order` the walk has passed. */
  readonly passed: number;
  readonly walked: number;
  readonly truncated: boolean;
}

export interface Page {
  readonly threads: readonly { readonly id: string }[];
  readonly nextCursor: string | null;
  readonly truncated: boolean;
}

/** An in-memory model of threads and who sees them, written from SPEC.md §4.3 and DESIGN.md §6 without regard to speed. */
export class ThreadModel {
  readonly threads = new Map<string, ModelThread>();
  readonly cursors: { readonly walk: ModelWalk; readonly text: string }[] = [];
  readonly idempotent = new Map<string, { readonly body: string; readonly id: string }>();
  /** How many more times the operator's command, which is slow, can be used. */
  operatorCallsLeft: number;
  readonly #window: number;

  constructor(window: number, operatorCalls: number) {
    this.#window = window;
    this.operatorCallsLeft = operatorCalls;
  }

  pick(index: number): ModelThread {
    return [...this.threads.values()][index % this.threads.size] as ModelThread;
  }

  change(id: string, change: Partial<ModelThread>): void {
    this.threads.set(id, { ...(this.threads.get(id) as ModelThread), ...change });
  }

  canRead(principal: PrincipalName, { organization, owner, published, deleted }: ModelThread): boolean {
    return !deleted && organization === organizationNames[principal] && (published || owner === principal);
  }

  /** Whether the thread is listed above all others of its organization. */
  isOnTop(thread: ModelThread): boolean {
    return [...this.threads.values()].every(
      (other) => other.organization !== thread.organization || byActivity(thread, other) <= 0,
    );
  }

  visible({ principal, accountId }: Listing): ModelThread[] {
    return [...this.threads.values()]
      .filter((thread) => this.canRead(principal, thread))
      .filter((thread) => accountId === undefined || thread.accountId === accountId)
      .sort(byActivity);
  }

  begin({ principal, accountId }: Listing): ModelWalk {
    const existing = [...this.threads.values()]
      .filter((thread) => thread.organization === organizationNames[principal] && !thread.deleted)
      .filter((thread) => accountId === undefined || thread.accountId === accountId)
      .sort(byActivity);
    const visible = this.visible({ principal, accountId });
    return {
      principal,
      accountId,
      order: existing.map(({ id }) => id),
      visibleAtStart: new Set(visible.map(({ id }) => id)),
      passed: 0,
      walked: 0,
      truncated: visible.length > this.#window,
    };
  }

  /**
   * Fails unless the page is a valid next page. Returns the position of the walk after it. Threads visible at the start
   * and now must be shown; those published since may be.
   */
  judge(walk: ModelWalk, limit: number, { threads, nextCursor, truncated }: Page): ModelWalk {
    // Only a walk whose listing was longer than the window is cut.
    const left = walk.truncated ? this.#window - walk.walked : Number.POSITIVE_INFINITY;
    const count = Math.min(limit, left);
    const candidates = walk.order
      .slice(walk.passed)
      .filter((id) => this.canRead(walk.principal, this.threads.get(id) as ModelThread));
    const due = (ids: readonly string[]) => ids.filter((id) => walk.visibleAtStart.has(id));

    let next = 0;
    for (const { id } of threads) {
      const place = candidates.indexOf(id, next);
      assert.notEqual(place, -1, `${id} is shown, but is not to be shown here`);
      assert.deepEqual(due(candidates.slice(next, place)), [], `left out before ${id}`);
      next = place + 1;
    }
    const rest = candidates.slice(next);
    assert.ok(threads.length <= count, `${threads.length} threads where ${count} were due at most`);
    if (threads.length < count) assert.deepEqual(due(rest), [], 'left out at the end of the page');

    const walked = walk.walked + threads.length;
    const isCut = threads.length === left;
    if (nextCursor === null) assert.ok(isCut || due(rest).length === 0, `the walk ends before ${due(rest)}`);
    else assert.ok(!isCut && rest.length > 0, 'the walk goes on where nothing follows');
    assert.equal(truncated, walk.truncated);

    const last = threads.at(-1)?.id;
    return { ...walk, walked, passed: last === undefined ? walk.passed : walk.order.indexOf(last) + 1 };
  }
}

/**
 * §4.3.1: most recent activity first, the id breaking ties. All times have the same width, so they can be compared as
 * text.
 */
function byActivity(a: ModelThread, b: ModelThread): number {
  const key = ({ id, createdAt, updatedAt }: ModelThread) => `${updatedAt ?? createdAt} ${id}`;
  return key(a) < key(b) ? 1 : key(a) > key(b) ? -1 : 0;
}
