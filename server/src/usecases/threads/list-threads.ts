import type { Principal } from '../../domain/principal.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Context } from '../context.ts';
import { cursorOf, openThreadWalk, readPage, type ThreadSelection, walkAfter } from './thread-walk.ts';

export interface ListThreadsInput extends ThreadSelection {
  readonly limit: number;
  readonly cursor?: string;
}

export interface ListedThreads {
  readonly threads: readonly Thread[];
  readonly nextCursor: string | null;
  readonly truncated: boolean;
}

/** One page of a walk over what the principal may see, as of the walk's start and in the order of that moment (§4.3). */
export async function listThreads(
  context: Context,
  principal: Principal,
  { limit, cursor, ...selection }: ListThreadsInput,
): Promise<ListedThreads> {
  const walk = openThreadWalk(context, principal, selection, cursor);
  const page = await readPage(context, walk, limit);
  const { next, truncated } = walkAfter(context, page, page.rows.length);
  return { threads: page.rows.map(({ thread }) => thread), nextCursor: cursorOf(context, next), truncated };
}
