import type { OrganizationId } from '../../domain/id.ts';
import {
  accountKey,
  bottom,
  byPosition,
  cut,
  type ListingKind,
  type ListingScope,
  listingScopes,
  type WalkStart,
} from '../listings.ts';
import type { ListedThread, Listing, ThreadPage, Threads } from '../store.ts';
import { join, type Sql, type Statement, sql, statement, type Values } from './sql.ts';
import { threadColumns } from './thread-reads.ts';

/** Where a query takes the values of a call from. */
export interface WalkValues {
  readonly organizationId: Sql;
  readonly userId: Sql;
  readonly accountId: Sql;
  readonly accountKey: Sql;
}

export const namedValues: WalkValues = {
  organizationId: sql`:organizationId`,
  userId: sql`:userId`,
  accountId: sql`:accountId`,
  accountKey: sql`:accountKey`,
};

/** Conditions on the row of a thread, as the indexes of the database have them. */
export interface WalkDialect {
  readonly isLive: Sql;
  readonly isPublished: Sql;
}

/** What a listing shows. */
export interface ListingQuery {
  readonly kind: ListingKind;
  /** Conditions on a thread, any of which must hold. Each is a range of one index, in the order of the listing. */
  ranges(values: WalkValues): Sql[];
  /** An expression. */
  size(values: WalkValues): Sql;
  /** The threads that have moved since the start of the walk, at the position that they left. */
  readonly moves: Statement;
}

/** Makes something for each kind of listing. */
export function forEachListing<T>(
  dialect: WalkDialect,
  make: (query: ListingQuery) => T,
): Readonly<Record<ListingKind, T>> {
  const made = listingScopes.flatMap((scope) =>
    [false, true].map((inAccount) => {
      const query = listingQuery(scope, inAccount, dialect);
      return [query.kind, make(query)];
    }),
  );
  return Object.fromEntries(made);
}

function listingQuery(
  scope: ListingScope,
  inAccount: boolean,
  { isLive, isPublished }: WalkDialect,
): ListingQuery {
  const kind: ListingKind = `${scope}${inAccount ? 'Account' : ''}`;
  function ranges({ userId, accountId }: WalkValues): Sql[] {
    const isMine = sql`thread.user_id = ${userId}`;
    const all = { own: [isMine, isPublished], published: [isPublished], mine: [isMine] }[scope];
    return inAccount ? all.map((range) => sql`${range} AND thread.account_id = ${accountId}`) : all;
  }
  return {
    kind,
    ranges,
    size: (values) => sizeOf(scope, values),
    // A move left the position that the thread had at the start of the walk, because the store's time puts every later
    // position above it. Each move belongs to one page of a walk, so that moves do not add up from page to page.
    moves: statement(`moves ${kind}`)`
      SELECT ${threadColumns}, left_activity_at AS "activityAt"
      FROM thread_move INDEXED BY thread_move_position CROSS JOIN thread
      WHERE thread_move.organization_id = :organizationId AND thread_move.sequence > :lastMove
        AND (left_activity_at, thread_id) < (:afterActivityAt, :afterId)
        AND (left_activity_at, thread_id) >= (:lowestActivityAt, :lowestId)
        AND thread.organization_id = :organizationId AND thread.id = thread_id
        AND (${join(ranges(namedValues), sql` OR `)}) AND ${isLive} AND thread.sequence <= :lastSequence
      ORDER BY left_activity_at DESC, thread_id DESC LIMIT :count + 0`,
  };
}

function sizeOf(scope: ListingScope, { organizationId, userId, accountKey }: WalkValues): Sql {
  const one = (amount: Sql, user: Sql) => sql`coalesce((SELECT ${amount} FROM listing_size
    WHERE organization_id = ${organizationId} AND user_id = ${user} AND account_key = ${accountKey}), 0)`;
  const published = one(sql`published`, sql`''`);
  if (scope === 'mine') return one(sql`threads`, userId);
  return scope === 'own' ? sql`${published} + ${one(sql`threads - published`, userId)}` : published;
}

/** A condition on the threads of a later page: after the last one, and not created since the start of the walk. */
export const isLater = sql`(activity_at, id) < (:afterActivityAt, :afterId) AND sequence <= :lastSequence`;

/** Reads one row more than the page has, to know whether another page follows. */
export function pageValues(organizationId: OrganizationId, listing: Listing, limit: number): Values {
  const { userId, accountId = null } = listing;
  return { organizationId, userId, accountId, accountKey: accountKey(accountId), count: limit + 1 };
}

type Walk = Parameters<Threads['continueWalk']>[3];

export function laterValues({ after }: Walk, { lastSequence, lastMove }: WalkStart): Values {
  return { afterActivityAt: after.activityAt, afterId: after.id, lastSequence, lastMove };
}

/** The values of `moves`: down to the end of the page that was read. A page that is not full reaches to the end. */
export function lowestValues(rows: readonly ListedThread[], limit: number): Values {
  const lowest = rows.length <= limit ? bottom : (rows.at(-1)?.position ?? bottom);
  return { lowestActivityAt: lowest.activityAt, lowestId: lowest.id };
}

/** A thread of the page that moves before the moves are read is found twice at the same position. */
export function withMoved(rows: ListedThread[], moved: readonly ListedThread[], limit: number): ThreadPage {
  if (moved.length === 0) return cut(rows, limit);
  const all = [...rows, ...moved].sort(byPosition);
  return cut(
    all.filter(({ thread }, index) => thread.id !== all[index - 1]?.thread.id),
    limit,
  );
}
