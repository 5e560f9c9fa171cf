import type { ThreadId } from '../../src/domain/id.ts';
import type { Listing } from '../../src/storage/port/store.ts';
import type { Random } from './random.ts';
import { sendWithKey } from './request.ts';
import { stayedVisible, type WalkStart } from './truth.ts';
import type { Person, World } from './world.ts';

interface Walk {
  readonly person: Person;
  readonly listing: Listing;
  readonly scope: 'mine' | 'published' | undefined;
  readonly limit: number;
  readonly shown: ThreadId[];
  /** The listings that its first page may have shown. */
  starts: readonly WalkStart[];
}

/** Walks through a listing, page by page, on any node, with pauses in which others write. */
export function walk(world: World, random: Random): void {
  const person = random.pick(world.people);
  const { userId } = person;
  const scope = random.pick([undefined, 'mine', 'published'] as const);
  const listing: Listing =
    scope === 'published' ? { userId: null } : scope === 'mine' ? { userId, ownOnly: true } : { userId };
  const limit = random.integer(6, 1);
  readPage(world, random, { person, listing, scope, limit, shown: [], starts: [] }, undefined, 3);
}

function readPage(world: World, random: Random, walk: Walk, cursor: string | undefined, left: number): void {
  const { person, limit, scope, shown } = walk;
  const input = { limit, ...(scope && { scope }), ...(cursor !== undefined && { cursor }) };
  sendWithKey(
    world,
    random,
    person,
    `list ${shown.length} and on`,
    ({ threads }, principal) => threads.list(principal, input),
    (outcome, { began }) => {
      const again = (next: string | undefined, tries: number) =>
        world.loop.after(random.fraction() ** 2 * 400, 'next page', () =>
          readPage(world, random, walk, next, tries),
        );
      if (outcome.code === 'unavailable' && left > 0) return void again(cursor, left - 1);
      if (outcome.code !== 'OK') return;
      const { page, nextCursor } = outcome.value;
      for (const { thread } of page.rows) {
        const { id, organizationId } = thread;
        const isOurs = organizationId === person.organizationId;
        world.oracle.expect(
          isOurs,
          'tenants',
          () => `${person.email} was shown ${id} of another organization`,
        );
        shown.push(id);
      }
      if (cursor === undefined) walk.starts = findStarts(world, walk, began);
      if (nextCursor === null) checkWalk(world, walk);
      else again(nextCursor, left);
    },
  );
}

function findStarts({ oracle }: World, { person, listing }: Walk, began: number): WalkStart[] {
  const name = JSON.stringify(listing);
  const isCandidate = (start: WalkStart) =>
    start.at >= began && start.organizationId === person.organizationId && start.listing === name;
  return oracle.walkStarts.filter(isCandidate);
}

function checkWalk({ oracle }: World, { starts, shown, listing, person }: Walk): void {
  const isRight = starts.some((start) => isWalk(start, shown, listing, oracle.threads));
  const expected = () =>
    starts.map(({ threads }) => threads.map(({ thread }) => thread.title.value).join(' ')).join(' | ');
  const titles = () => shown.map((id) => oracle.threads.get(id)?.title.value).join(' ');
  oracle.expect(isRight, 'walks', () => `${person.email} was shown ${titles()}, not ${expected()}`);
}

/** Threads that were deleted or hidden during the walk may be missing, and those that became visible may appear. */
function isWalk(
  { threads, at }: WalkStart,
  shown: readonly ThreadId[],
  listing: Listing,
  all: World['oracle']['threads'],
): boolean {
  const places = new Map(threads.map(({ thread }, place) => [thread.id, place]));
  const known = shown.flatMap((id) => places.get(id) ?? []);
  const others = shown.filter((id) => !places.has(id));
  const isBefore = (one: number, other: number) =>
    one < other || Math.abs(threads[one]!.activityMs - threads[other]!.activityMs) < 2;
  const isOrdered = known.every((place, index) => index === 0 || isBefore(known[index - 1]!, place));
  const isOnce = new Set(shown).size === shown.length;
  const isComplete = threads.every(
    ({ thread }) => shown.includes(thread.id) || !stayedVisible(listing, thread, at),
  );
  const existed = others.every((id) => (all.get(id)?.createdAt ?? at + 1) <= at);
  return isOrdered && isOnce && isComplete && existed;
}
