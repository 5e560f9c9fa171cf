import type { ReplyChanges } from './change-replies.ts';
import type { ThreadChanges } from './change-thread.ts';
import type { ThreadCreation } from './create-thread.ts';
import type { ThreadFollowing } from './follow-thread.ts';
import type { ThreadReads } from './get-thread.ts';
import type { ThreadLists } from './list-threads.ts';
import type { ReplyRatings } from './rate-replies.ts';
import type { ThreadSearch } from './search-threads.ts';
import type { ReplyWaits } from './wait-for-reply.ts';

/** What surfaces do with threads. */
export interface Threads
  extends ThreadReads,
    ThreadLists,
    ThreadSearch,
    ThreadCreation,
    ThreadChanges,
    ThreadFollowing {}

/** What surfaces do with the replies of threads. */
export interface Replies extends ReplyChanges, ReplyRatings, ReplyWaits {}
