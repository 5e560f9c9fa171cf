import { nextTurn } from '../../../../runtime/src/turns.ts';
import { openCursor, type Seal, sealCursor } from '../../domain/cursor.ts';
import {
  type HitFinder,
  hitFinder,
  plainText,
  type Segment,
  searchedWords,
  type Vocabulary,
} from '../../domain/excerpt.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import { SearchQueue } from '../../domain/search-queue.ts';
import type { Thread } from '../../domain/thread.ts';
import type { FoundThread, Store, ThreadQuery, ThreadSummary } from '../../storage/port/store.ts';
import { messageParts } from './get-thread.ts';
import type { ThreadSelection } from './list-threads.ts';

export interface SearchThreadsInput extends ThreadSelection, Pick<ThreadQuery, 'state' | 'since'> {
  /** Words that must all occur in the title or the messages. Empty: only the filters count. */
  readonly search: string;
  readonly limit: number;
  readonly cursor?: string;
}

export interface ThreadRow {
  readonly thread: Thread;
  readonly summary: ThreadSummary;
  /** What a search found, with the words marked: the title, and the best part of a message. */
  readonly found?: { readonly title: Segment[]; readonly text: Segment[] | null } | undefined;
}

const excerptLength = 180;
/** How much of the messages a page of results reads for its excerpts. */
const readLengthMax = 400_000;
const partOfThread = { limit: 20, bytesMax: 32_768 };
/** Characters that are split into words in one turn. */
const pieceLength = 8_000;

/** A search may read the entries of all threads of a person: one organization runs one at a time, and others take turns. */
const searches = new SearchQueue(2, 1);

interface ThreadSearchNeeds {
  readonly store: Pick<Store, 'searchThreads' | 'summarizeThreads' | 'getThread' | 'listMessages'>;
  readonly seal: Seal;
  readonly vocabulary: Vocabulary;
}

export type ThreadSearch = ReturnType<typeof createThreadSearch>;

export function createThreadSearch({ store, seal, vocabulary }: ThreadSearchNeeds) {
  return { search, summarize };

  /** Threads that contain all words, most recent activity first. Rejects with RATE_LIMITED as `SearchQueue` does. */
  async function search(
    { organizationId, userId }: UserPrincipal,
    { limit, cursor, ...input }: SearchThreadsInput,
    signal?: AbortSignal,
  ): Promise<{ readonly rows: ThreadRow[]; readonly nextCursor: string | null }> {
    const words = searchedWords(input.search, vocabulary);
    if (words === undefined && input.search.trim() !== '') return { rows: [], nextCursor: null };
    const listing = ['search', organizationId, userId, input];
    const after = openCursor<Pick<FoundThread, 'place'>>(seal, listing, cursor)?.place;
    const query = { ...input, userId, terms: words?.terms ?? [], last: words?.last };
    const find = async () => {
      // One more, to know whether another page follows.
      const found = await store.searchThreads(organizationId, query, limit + 1, after);
      const page = found.slice(0, limit);
      const threads = page.map(({ thread }) => thread);
      const summarized = await summarize(threads);
      // The summary has the current state; the index may be a moment behind.
      const rows = summarized.filter(
        ({ summary }) => input.state === undefined || summary.state === input.state,
      );
      return {
        rows: words ? await withExcerpts(rows, hitFinder(words, vocabulary)) : rows,
        nextCursor: found.length > limit ? sealCursor(seal, listing, { place: page.at(-1)!.place }) : null,
      };
    };
    return searches.run(organizationId, find, signal);
  }

  async function summarize(threads: readonly Thread[]): Promise<ThreadRow[]> {
    const [first] = threads;
    if (first === undefined) return [];
    const ids = threads.map(({ id }) => id);
    const summaries = await store.summarizeThreads(first.organizationId, ids);
    const byId = new Map(summaries.map((summary) => [summary.id, summary]));
    return threads.flatMap((thread) => {
      const summary = byId.get(thread.id);
      return summary === undefined ? [] : [{ thread, summary }];
    });
  }

  async function withExcerpts(rows: readonly ThreadRow[], finder: HitFinder): Promise<ThreadRow[]> {
    const budget = { left: readLengthMax, inTurn: 0 };
    // Concurrently, because on PostgreSQL each waits for its messages.
    return Promise.all(
      rows.map(async (row) => ({
        ...row,
        found: {
          title: finder.mark(row.thread.title),
          text: await findExcerpt(row.thread, finder, budget),
        },
      })),
    );
  }

  /** Of the first part with a match, the message with the most words; among equals, the last reply. */
  async function findExcerpt(
    thread: Thread,
    finder: HitFinder,
    budget: { left: number; inTurn: number },
  ): Promise<Segment[] | null> {
    if (budget.left <= 0) return null;
    for await (const part of messageParts(store, thread, partOfThread)) {
      budget.inTurn = 0;
      let best: { segments: Segment[]; found: number } | undefined;
      for (const { role, content } of part) {
        for (let start = 0; start < content.length && budget.left > 0; start += pieceLength) {
          const piece = content.slice(start, start + pieceLength);
          if (budget.inTurn + piece.length > pieceLength) {
            await nextTurn(thread.organizationId);
            budget.inTurn = 0;
          }
          budget.inTurn += piece.length;
          budget.left -= piece.length;
          const excerpt = finder.excerpt(plainText(piece.toWellFormed()), excerptLength);
          const isBetter = (excerpt?.found ?? 0) + (role === 'assistant' ? 0.5 : 0) > (best?.found ?? 0);
          if (excerpt !== undefined && isBetter) best = excerpt;
        }
      }
      if (best !== undefined || budget.left <= 0) return best?.segments ?? null;
    }
    return null;
  }
}
