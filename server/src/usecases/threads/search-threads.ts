import type { Principal } from '../../domain/principal.ts';
import { titleMatcher } from '../../domain/search-text.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Context } from '../context.ts';
import type { ListedThreads, ListThreadsInput } from './list-threads.ts';
import { cursorOf, openThreadWalk, readPage, walkAfter } from './thread-walk.ts';

/** Threads looked at in one call: 2,000 rows take the embedded store 5 ms. */
const lookedAtMax = 2000;
/** And at once: others are served in between. */
const pageSize = 250;

export interface SearchThreadsInput extends ListThreadsInput {
  /** Words, each of which must occur somewhere in the title, whatever its case and accents. */
  readonly search: string;
}

/**
 * A walk over the listing that shows only threads whose titles match. Its cursors are those of the listing: they say
 * how far was looked, not what for. An answer may be empty though more follow.
 */
export async function searchThreads(
  context: Context,
  principal: Principal,
  { search, limit, cursor, ...selection }: SearchThreadsInput,
): Promise<ListedThreads> {
  const matches = titleMatcher(search);
  const found: Thread[] = [];
  let walk = openThreadWalk(context, principal, selection, cursor);
  let lookedAt = 0;
  for (;;) {
    const page = await readPage(context, walk, Math.min(pageSize, lookedAtMax - lookedAt));
    let taken = 0;
    for (const { thread } of page.rows) {
      taken += 1;
      if (matches(thread.title)) found.push(thread);
      if (found.length === limit) break;
    }
    lookedAt += taken;
    const { next, truncated } = walkAfter(context, page, taken);
    if (next === undefined || found.length === limit || lookedAt >= lookedAtMax) {
      return { threads: found, nextCursor: cursorOf(context, next), truncated };
    }
    walk = next;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
