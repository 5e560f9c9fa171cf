import { memoized } from '../../../../runtime/src/pure/memoized.ts';
import type { Position } from '../../domain/cursor.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Thread } from '../../domain/thread.ts';
import { accountKey } from '../port/listings.ts';
import type { Listing, ThreadPage } from '../port/store.ts';
import { estimateTextMemory, type ObjectCache } from './object-cache.ts';

export type FirstPage = ThreadPage & { readonly start: string; readonly size: number };

/** A page of a listing, with the state of the organization's listings that it was read from. */
export interface CachedPage<Page extends ThreadPage = ThreadPage> {
  readonly page: Page;
  readonly state: number | string;
  readonly at: number;
}

/** A walk expires a day after its start, so a cached first page must not backdate the start by much. */
export const firstPageMsMax = 60_000;
/** The memory of a listed thread without its texts, in bytes. */
const listedMemory = 1024;

/** Texts count twice, because their JSON is also kept as a string and in the bytes of the page. */
const listedThreadMemory = memoized((thread: Thread) => listedMemory + 2 * estimateTextMemory(thread));

/** Returns the same object for an unchanged thread, so that its JSON can be cached with it. */
export function cachedThread(cache: ObjectCache, thread: Thread): Thread {
  const name = `listed ${thread.id}`;
  const cached = cache.peek<Thread>(name);
  return cached !== undefined && isSame(cached, thread)
    ? cached
    : cache.set(name, thread, listedThreadMemory(thread));
}

/** Compares everything that can change. */
function isSame(one: Thread, other: Thread): boolean {
  return (
    one.organizationId === other.organizationId &&
    one.title === other.title &&
    one.updatedAt === other.updatedAt &&
    one.published === other.published &&
    one.deletedAt === other.deletedAt
  );
}

export function cachePage<Page extends ThreadPage>(
  cache: ObjectCache,
  name: string,
  cached: CachedPage<Page>,
): Page {
  // Every page counts all of its threads, even those that other pages hold, because it may outlive those pages.
  const bytes = cached.page.rows.reduce((sum, { thread }) => sum + listedThreadMemory(thread), listedMemory);
  return cache.set(name, cached, bytes + 2 * name.length).page;
}

export function pageName(
  organizationId: OrganizationId,
  { userId, ownOnly, accountId }: Listing,
  limit: number,
  walk?: { readonly start: string; readonly after: Position },
): string {
  const listing = `${organizationId} ${userId} ${ownOnly} ${limit} ${walk?.start} ${walk?.after.activityAt} ${walk?.after.id}`;
  return `page ${listing} ${accountKey(accountId)}`;
}
