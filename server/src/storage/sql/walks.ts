import type { OrganizationId } from '../../domain/id.ts';
import {
  accountKey,
  type ListingKind,
  type ListingScope,
  listingScopes,
  type WalkStart,
} from '../listings.ts';
import type { Listing, Walks } from '../store.ts';
import { join, type Sql, sql, type Values } from './sql.ts';

/** Where a query takes the values of a call from. A later page begins below `after`, and `lowest` is its last position. */
export interface WalkValues {
  readonly organizationId: Sql;
  readonly userId: Sql;
  readonly accountId: Sql;
  readonly accountKey: Sql;
  readonly after: Sql;
  readonly lowest: Sql;
  readonly lastSequence: Sql;
  readonly lastMove: Sql;
}

export const namedValues: WalkValues = {
  organizationId: sql`:organizationId`,
  userId: sql`:userId`,
  accountId: sql`:accountId`,
  accountKey: sql`:accountKey`,
  after: sql`(:afterActivityAt, :afterId)`,
  lowest: sql`(:lowestActivityAt, :lowestId)`,
  lastSequence: sql`:lastSequence`,
  lastMove: sql`:lastMove`,
};

interface WalkDialect {
  /** Conditions on the row of a thread, as the indexes of the database have them. */
  readonly isLive: Sql;
  readonly isPublished: Sql;
  /** `thread_move` with the `thread` of each move, joined one by one: a page needs few of them. */
  readonly movedThreads: Sql;
}

/** What a listing shows. */
export interface ListingQuery {
  readonly kind: ListingKind;
  /** Conditions on a thread, any of which must hold. Each is a range of one index, in the order of the listing. */
  ranges(values: WalkValues): Sql[];
  /** An expression. */
  size(values: WalkValues): Sql;
  /** The threads of a later page that have moved since the start of the walk. They left the position `left_activity_at`. */
  moves(columns: Sql, values: WalkValues): Sql;
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
  { isLive, isPublished, movedThreads }: WalkDialect,
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
    moves: (columns, values) => sql`SELECT ${columns}
      FROM ${movedThreads}
      WHERE thread_move.organization_id = ${values.organizationId} AND thread_move.sequence > ${values.lastMove}
        AND (left_activity_at, thread_id) < ${values.after} AND (left_activity_at, thread_id) >= ${values.lowest}
        AND (${join(ranges(values), sql` OR `)}) AND ${isLive} AND thread.sequence <= ${values.lastSequence}
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
export const isLater = ({ after, lastSequence }: WalkValues) =>
  sql`(activity_at, id) < ${after} AND sequence <= ${lastSequence}`;

/** Reads one row more than the page has, to know whether another page follows. */
export function pageValues(organizationId: OrganizationId, listing: Listing, limit: number): Values {
  const { userId, accountId = null } = listing;
  return { organizationId, userId, accountId, accountKey: accountKey(accountId), count: limit + 1 };
}

type Walk = Parameters<Walks['continueWalk']>[3];

export function laterValues({ after }: Walk, { lastSequence, lastMove }: WalkStart): Values {
  return { afterActivityAt: after.activityAt, afterId: after.id, lastSequence, lastMove };
}
