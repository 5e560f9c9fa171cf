import { invalid } from './errors.ts';
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
  /** Whether the listing was longer than the pagination window when the walk started. */
  readonly truncated: boolean;
}

/** A position in a log. Entries are ordered by time, with ids breaking ties. */
export interface LogPosition {
  readonly at: number;
  readonly id: string;
}

/** Makes a text opaque. `open` returns undefined for anything that `seal` did not create for the same purpose. */
export interface Seal {
  seal(purpose: string, plaintext: string): string;
  open(purpose: string, sealed: string): string | undefined;
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

/** Everything that determines which entries a listing has. A cursor of one listing is invalid in any other. */
type Listing = readonly unknown[];

/** Change this whenever the contents of cursors change, so that cursors of earlier releases are rejected. */
const version = 2;

export function sealCursor(seal: Seal, listing: Listing, next: object): string {
  return seal.seal(JSON.stringify([version, ...listing]), JSON.stringify(next));
}

/** Undefined without a cursor. */
export function openCursor<Next extends object>(
  seal: Seal,
  listing: Listing,
  cursor: string | undefined,
): Next | undefined {
  if (cursor === undefined) return undefined;
  const text = seal.open(JSON.stringify([version, ...listing]), cursor);
  if (text === undefined)
    throw invalid('`cursor` does not belong to this list. Restart the list without `cursor`.');
  return JSON.parse(text) as Next;
}
