import { invalid, type ServiceError } from './errors.ts';
import type { ThreadId } from './id.ts';

/** A thread's position in a listing: most recent activity first, the id breaking ties (§4.3.1). */
export interface Position {
  readonly activityAt: number;
  readonly id: ThreadId;
}

/** What a cursor carries from one page of a walk to the next. */
export interface Walk {
  /** The position of the last row returned, as of the walk's start. */
  readonly after: Position;
  /** The store's own mark of the moment when the walk started. */
  readonly start: string;
  readonly walked: number;
  readonly truncated: boolean;
}

/** Which listing a cursor belongs to. Used with another one, it is malformed. */
type ListingName = string;

/**
 * Turns a walk into an opaque text and back. `open` returns undefined for anything that `seal` did not create for that
 * listing.
 */
export interface Seal {
  seal(listing: ListingName, plaintext: string): string;
  open(listing: ListingName, sealed: string): string | undefined;
}

/** Seals a value that a browser keeps until `until`. */
export function sealValue(seal: Seal, purpose: string, value: object, until: number): string {
  return seal.seal(purpose, JSON.stringify({ ...value, until }));
}

/** Undefined for anything that `sealValue` did not create for this purpose, and for values that have expired. */
export function openValue<T>(seal: Seal, purpose: string, sealed: string | undefined, now: number) {
  const text = sealed === undefined ? undefined : seal.open(purpose, sealed);
  if (text === undefined) return undefined;
  const { until, ...value } = JSON.parse(text) as T & { readonly until: number };
  return until > now ? value : undefined;
}

/** A place in a log, whose entries are in the order of their times, ids breaking ties. */
export interface LogPosition {
  readonly at: number;
  readonly id: string;
}

export function sealPosition(seal: Seal, listing: ListingName, { at, id }: LogPosition): string {
  return seal.seal(listing, `${at}|${id}`);
}

export function openPosition(seal: Seal, listing: ListingName, cursor: string): LogPosition {
  const [at, id] = seal.open(listing, cursor)?.split('|') ?? [];
  if (at === undefined || id === undefined) throw foreignCursor();
  return { at: Number(at), id };
}

export function foreignCursor(): ServiceError {
  return invalid('cursor: was not returned by this listing.');
}

const version = '1';

export function sealWalk(seal: Seal, listing: ListingName, walk: Walk): string {
  const { after, start, walked, truncated } = walk;
  return seal.seal(
    listing,
    [version, after.activityAt, after.id, start, walked, truncated ? 1 : 0].join('|'),
  );
}

export function openWalk(seal: Seal, listing: ListingName, cursor: string): Walk | undefined {
  const parts = seal.open(listing, cursor)?.split('|');
  if (parts === undefined || parts[0] !== version || parts.length !== 6) return undefined;
  const [, activityAt, id, start, walked, truncated] = parts as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  return {
    after: { activityAt: Number(activityAt), id: id as ThreadId },
    start,
    walked: Number(walked),
    truncated: truncated === '1',
  };
}
