import assert from 'node:assert/strict';

interface Shown {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string | null;
}

/** A write that happened at some moment between the two times. */
interface Moment {
  readonly sentAt: number;
  readonly answeredAt: number;
}

interface Past {
  readonly created: Moment;
  /** The activity times from its creation and each rename, in order. */
  readonly activities: (Moment & { readonly activity: string })[];
  deleted: Moment | undefined;
  deleting: boolean;
  renaming: boolean;
}

export interface ShownWalk {
  readonly pages: readonly (Moment & { readonly ids: readonly string[] })[];
}

/** Records what was written when, as precisely as the writers can know. This is enough to check a concurrent walk. */
export class History {
  readonly #threads = new Map<string, Past>();

  created(shown: Shown, sentAt: number, answeredAt: number): void {
    this.#threads.set(shown.id, {
      created: { sentAt, answeredAt },
      activities: [{ sentAt, answeredAt, activity: shown.createdAt }],
      deleted: undefined,
      deleting: false,
      renaming: false,
    });
  }

  renamed({ id, updatedAt }: Shown, sentAt: number, answeredAt: number): void {
    const past = this.#threads.get(id) as Past;
    past.activities.push({ sentAt, answeredAt, activity: updatedAt as string });
    past.renaming = false;
  }

  deleted(id: string, sentAt: number, answeredAt: number): void {
    (this.#threads.get(id) as Past).deleted = { sentAt, answeredAt };
  }

  /** The oldest or newest entry that no other writer uses. Every third thread is never renamed. */
  pickToRename(fromBelow: boolean): string {
    const idle = [...this.#threads].filter(
      ([, past], place) => place % 3 !== 0 && !past.deleting && !past.renaming,
    );
    const [id, past] = (fromBelow ? idle[0] : idle.at(-1)) as [string, Past];
    past.renaming = true;
    // Moved to the end of the map, so that the next rename takes another thread.
    this.#threads.delete(id);
    this.#threads.set(id, past);
    return id;
  }

  pickToDelete(): string {
    const idle = [...this.#threads].filter(([, past]) => !past.deleting && !past.renaming);
    const [id, past] = idle[Math.floor(idle.length / 2)] as [string, Past];
    past.deleting = true;
    return id;
  }

  /** Fails unless the history can explain the walk. Returns how much of the walk was checked. */
  judge({ pages }: ShownWalk): { existedThroughout: number; placesKnown: number; renamedDuring: number } {
    const [start, end] = [pages[0]!, pages.at(-1)!];
    const ids = pages.flatMap((page) => page.ids);
    assert.equal(new Set(ids).size, ids.length, 'no thread is shown twice');
    for (const page of pages) for (const id of page.ids) this.#assertMayShow(id, start, page);

    const throughout = [...this.#threads].filter(
      ([, { created, deleted }]) =>
        created.answeredAt < start.sentAt && (deleted === undefined || deleted.sentAt > end.answeredAt),
    );
    const shown = new Set(ids);
    const skipped = throughout.filter(([id]) => !shown.has(id)).map(([id]) => id);
    assert.deepEqual(skipped, [], 'no thread that was there throughout is skipped');

    const places = ids.map((id) => this.#placeAt(id, start)).filter((place) => place !== undefined);
    assert.deepEqual(places, [...places].sort().reverse(), 'in the order of the start');
    const renamedDuring = throughout.filter(([, { activities }]) =>
      activities.some(({ sentAt, answeredAt }) => sentAt > start.answeredAt && answeredAt < end.sentAt),
    );
    return {
      existedThroughout: throughout.length,
      placesKnown: places.length,
      renamedDuring: renamedDuring.length,
    };
  }

  #assertMayShow(id: string, start: Moment, page: Moment): void {
    const past = this.#threads.get(id);
    assert.ok(past, `${id} is shown, but was never created`);
    assert.ok(past.created.sentAt < start.answeredAt, `${id} was created after the walk began`);
    assert.ok(
      past.deleted === undefined || past.deleted.answeredAt > page.sentAt,
      `${id} was deleted before`,
    );
  }

  /** The thread's sort key at the start. Undefined if a concurrent write makes it ambiguous. */
  #placeAt(id: string, start: Moment): string | undefined {
    const { activities } = this.#threads.get(id) as Past;
    const before = activities.filter(({ sentAt }) => sentAt < start.answeredAt);
    const last = before.at(-1);
    return last === undefined || last.answeredAt > start.sentAt ? undefined : `${last.activity} ${id}`;
  }
}
