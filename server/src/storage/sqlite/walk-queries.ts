import type { ListingKind } from '../listing-page.ts';
import { type Counted, sizeExpression } from './listing-sizes.ts';

interface Queries {
  readonly firstPage: string;
  readonly laterPage: string;
  readonly moves: string;
}

/** In the order of `ListedRow`, before the position. */
const columns = 'thread.id, user_id, title, account_id, secondary_id, created_at, updated_at, published';

/** Not the parameter alone: SQLite would compile the query anew for each value bound to it, which costs 50 µs a page. */
const count = '@count + 0';

export function listingQueries(): Record<ListingKind, Queries> {
  const own = 'user_id = @userId';
  const published = 'published = 1';
  const account = 'account_id = @accountId';
  return {
    own: queries('own', `(${own} OR ${published})`, own, published),
    ownAccount: queries(
      'own',
      `(${own} OR ${published}) AND ${account}`,
      `${own} AND ${account}`,
      `${account} AND ${published}`,
    ),
    published: queries('published', published, published),
    publishedAccount: queries('published', `${published} AND ${account}`, `${account} AND ${published}`),
    mine: queries('mine', own, own),
    mineAccount: queries('mine', `${own} AND ${account}`, `${own} AND ${account}`),
  };
}

function queries(counted: Counted, visible: string, ...ranges: string[]): Queries {
  return {
    firstPage: `SELECT ${columns}, thread.activity_at,
        (SELECT max(sequence) FROM thread), (SELECT move_sequence FROM store_clock),
        ${sizeExpression(counted)} FROM ${merged(ranges)}`,
    laterPage: `SELECT ${columns}, thread.activity_at FROM ${merged(
      ranges.map(
        (range) => `${range} AND (activity_at, id) < (@activityAt, @id) AND sequence <= @lastSequence`,
      ),
    )}`,
    moves: moved(visible),
  };
}

/**
 * Index ranges in the same order, merged as they are read: the page takes its first rows and the merge stops there. Only
 * keys are merged; the rows themselves are read for the page alone.
 */
function merged(ranges: string[]): string {
  const keys = ranges.map(
    (range) => `SELECT activity_at, id, sequence FROM thread
      WHERE organization_id = @organizationId AND deleted = 0 AND ${range}`,
  );
  // The sequence is the tail of every index: with it in the order, no side needs sorting.
  return `(${keys.join(' UNION ')} ORDER BY activity_at DESC, id DESC, sequence DESC LIMIT ${count}) AS page
    CROSS JOIN thread ON thread.sequence = page.sequence`;
}

/**
 * A rename since the start left the position that the thread had at the start: the store's clock puts everything that
 * comes later above it. Each move is met on one page of a walk, so renames do not add up from page to page.
 */
function moved(visible: string): string {
  return `SELECT ${columns}, left_activity_at FROM thread_move INDEXED BY thread_move_position
    CROSS JOIN thread ON thread.organization_id = thread_move.organization_id AND thread.id = thread_id
    WHERE thread_move.organization_id = @organizationId AND thread_move.sequence > @lastMove
      AND (left_activity_at, thread_id) < (@activityAt, @id)
      AND (left_activity_at, thread_id) >= (@lowestActivityAt, @lowestId)
      AND ${visible} AND deleted = 0 AND thread.sequence <= @lastSequence
    ORDER BY left_activity_at DESC, thread_id DESC LIMIT ${count}`;
}
