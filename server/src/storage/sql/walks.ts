import type { Position } from '../../domain/cursor.ts';
import type { OrganizationId } from '../../domain/id.ts';
import { accountKey, type WalkStart } from '../port/listings.ts';
import type { Listing } from '../port/store.ts';
import { join, type Sql, sql, type Values } from './sql.ts';

/** `mine`: the user's own threads. `own`: the user's own and published threads. */
const scopes = ['own', 'published', 'mine'] as const;
type ListingScope = (typeof scopes)[number];
/** A scope, and whether only threads of one account are listed. */
export type ListingKind = `${ListingScope}${'' | 'Account'}`;

export function deriveKind({ userId, ownOnly, accountId }: Listing): ListingKind {
  const scope = ownOnly ? 'mine' : userId === null ? 'published' : 'own';
  return accountId === undefined ? scope : `${scope}Account`;
}

interface WalkDialect {
  /** Conditions on the row of a thread, as the indexes of the database have them. */
  readonly isLive: Sql;
  readonly isPublished: Sql;
  /** `thread_move` with the `thread` of each move, joined one by one: a page needs few of them. */
  readonly movedThreads: Sql;
  /** The last position of a later page. */
  readonly lowest: Sql;
}

export interface ListingQuery {
  readonly kind: ListingKind;
  /** Conditions on a thread, any of which must hold. Each is a range of one index, in the order of the listing. */
  readonly ranges: readonly Sql[];
  /** An expression for the number of its threads. */
  readonly size: Sql;
  /** The threads of a later page that have moved since the start of the walk. They left the position `left_activity_at`. */
  moves(columns: Sql, rowsMax: Sql): Sql;
}

export function forEachListing<T>(dialect: WalkDialect, make: (query: ListingQuery) => T) {
  const queries = scopes.flatMap((scope) => [
    listingQuery(scope, false, dialect),
    listingQuery(scope, true, dialect),
  ]);
  return Object.fromEntries(queries.map((query) => [query.kind, make(query)])) as Record<ListingKind, T>;
}

function listingQuery(
  scope: ListingScope,
  inAccount: boolean,
  { isLive, isPublished, movedThreads, lowest }: WalkDialect,
): ListingQuery {
  const isMine = sql`thread.user_id = :userId`;
  const all = { own: [isMine, isPublished], published: [isPublished], mine: [isMine] }[scope];
  const ranges = inAccount ? all.map((range) => sql`${range} AND thread.account_id = :accountId`) : all;
  return {
    kind: `${scope}${inAccount ? 'Account' : ''}`,
    ranges,
    size: selectSize(scope),
    // A moved thread left the position that it had at the start of the walk: every later position is above the walk,
    // because the store's time never runs backwards. That position is on one page, so no other page reads the move.
    moves: (columns, rowsMax) => sql`SELECT ${columns}
      FROM ${movedThreads}
      WHERE thread_move.organization_id = :organizationId AND thread_move.sequence > :lastMove
        AND (left_activity_at, thread_id) < (:afterActivityAt, :afterId) AND (left_activity_at, thread_id) >= ${lowest}
        AND (${join(ranges, sql` OR `)}) AND ${isLive} AND thread.sequence <= :lastSequence
      ORDER BY left_activity_at DESC, thread_id DESC LIMIT ${rowsMax}`,
  };
}

function selectSize(scope: ListingScope): Sql {
  const one = (amount: Sql, user: Sql) => sql`coalesce((SELECT ${amount} FROM listing_size
    WHERE organization_id = :organizationId AND user_id = ${user} AND account_key = :accountKey), 0)`;
  const published = one(sql`published`, sql`''`);
  if (scope === 'mine') return one(sql`threads`, sql`:userId`);
  return scope === 'own' ? sql`${published} + ${one(sql`threads - published`, sql`:userId`)}` : published;
}

/** A condition on the threads of a later page: after the last one, and not created since the start of the walk. */
export const isLater = sql`(activity_at, id) < (:afterActivityAt, :afterId) AND sequence <= :lastSequence`;

/** Reads one row more than the page has, to know whether another page follows. */
export function pageValues(organizationId: OrganizationId, listing: Listing, limit: number): Values {
  const { userId, accountId = null } = listing;
  return { organizationId, userId, accountId, accountKey: accountKey(accountId), count: limit + 1 };
}

export function laterValues({ activityAt, id }: Position, { lastSequence, lastMove }: WalkStart): Values {
  return { afterActivityAt: activityAt, afterId: id, lastSequence, lastMove };
}
