import type { ListingKind } from '../listing-page.ts';
import { type Counted, sizeExpression } from './listing-sizes.ts';
import { nowText } from './store-time.ts';

interface Queries {
  readonly firstPage: string;
  readonly laterPage: string;
  readonly moves: string;
}

const columns = 'id, user_id, title, account_id, secondary_id, created_at, updated_at, published';

/**
 * Parameters: 1 organization, 2 user, 3 account, 4 account key, 5 count; of first pages 6 and 7 the time; of later pages 6
 * activity, 7 id, 8 last sequence, 9 and 10 the time; of moves 9 last move, 10 lowest activity, 11 lowest id.
 */
export function listingQueries(): Record<ListingKind, Queries> {
  const own = 'user_id = $2';
  const published = 'published';
  const account = 'account_id = $3';
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

/** Each text names every parameter that it is given, since PostgreSQL must know their types. */
const named = `$2::text IS NULL AND $3::text IS NULL AND $4::text IS NULL AS unused`;

function queries(counted: Counted, visible: string, ...ranges: string[]): Queries {
  return {
    firstPage: `SELECT page.*, organization.thread_sequence, organization.move_sequence,
        ${sizeExpression(counted)} AS size, ${nowText('$6', '$7')} AS now, ${named}
      FROM organization CROSS JOIN ${merged(ranges)} AS page WHERE organization.id = $1
      ORDER BY page.activity_at DESC, page.id DESC`,
    laterPage: `SELECT page.*, moment.now, ${named} FROM (SELECT ${nowText('$9', '$10')} AS now) AS moment LEFT JOIN ${merged(
      ranges.map((range) => `${range} AND (activity_at, id) < ($6, $7) AND sequence <= $8`),
    )} AS page ON true ORDER BY activity_at DESC, id DESC`,
    moves: moved(visible),
  };
}

/** Index ranges in the same order: of each as many rows as the page has, then the first of all. */
function merged(ranges: string[]): string {
  const sides = ranges.map(
    (range) => `(SELECT ${columns}, activity_at FROM thread
      WHERE organization_id = $1 AND deleted_at IS NULL AND ${range}
      ORDER BY activity_at DESC, id DESC LIMIT $5)`,
  );
  return `(SELECT * FROM (${sides.join(' UNION ')}) AS side ORDER BY activity_at DESC, id DESC LIMIT $5)`;
}

/**
 * A rename since the start left the position that the thread had at the start: the organization's time puts everything
 * that comes later above it. Each move is met on one page of a walk, so renames do not add up from page to page.
 */
function moved(visible: string): string {
  return `SELECT ${columns
    .split(', ')
    .map((column) => `thread.${column}`)
    .join(', ')}, left_activity_at AS activity_at, ${named}
    FROM thread_move
    JOIN thread ON thread.organization_id = thread_move.organization_id AND thread.id = thread_id
    WHERE thread_move.organization_id = $1 AND thread_move.sequence > $9
      AND (left_activity_at, thread_id) < ($6, $7) AND (left_activity_at, thread_id) >= ($10, $11)
      AND ${visible} AND deleted_at IS NULL AND thread.sequence <= $8
    ORDER BY left_activity_at DESC, thread_id DESC LIMIT $5`;
}
