import type { Principal } from '../../domain/principal.ts';
import { titleMatcher } from '../../domain/text.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Context } from '../context.ts';
import type { ListedThreads, ListThreadsInput } from './list-threads.ts';
import { cursorOf, openThreadWalk, readPage, walkAfter } from './thread-walk.ts';

/** The most threads that one call scans. SQLite takes 5 ms for 2,000 rows. */
const scannedMax = 2000;
/** Threads per read. Other requests run between two reads. */
const pageSize = 250;

export interface SearchThreadsInput extends ListThreadsInput {
  /** Words that must all occur in the title, ignoring case and accents. */
  readonly search: string;
}

/**
 * A walk over the listing that returns only threads with matching titles. It uses the cursors of the listing, which contain
 * the position but not the search. A page may be empty although more pages follow.
 */
export async function searchThreads(
  context: Context,
  principal: Principal,
  { search, limit, cursor, ...selection }: SearchThreadsInput,
): Promise<ListedThreads> {
  const matches = titleMatcher(search);
  const found: Thread[] = [];
  let walk = openThreadWalk(context, principal, selection, cursor);
  let scanned = 0;
  for (;;) {
    const page = await readPage(context, walk, Math.min(pageSize, scannedMax - scanned));
    let taken = 0;
    for (const { thread } of page.rows) {
      taken += 1;
      if (matches(thread.title)) found.push(thread);
      if (found.length === limit) break;
    }
    scanned += taken;
    const { next, truncated } = walkAfter(context, page, taken);
    if (next === undefined || found.length === limit || scanned >= scannedMax) {
      return { threads: found, nextCursor: cursorOf(context, next), truncated };
    }
    walk = next;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
