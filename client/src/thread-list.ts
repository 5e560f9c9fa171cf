import { UnexpectedResponseError } from './errors.ts';
import { isListOf, isThread } from './response.ts';
import type { CallOptions, Transport } from './transport.ts';
import type { Thread, ThreadPage } from './types.ts';

export interface ListOptions extends CallOptions {
  /** Only threads associated with this account. */
  readonly accountId?: string | undefined;
  /** Threads per page, 1 to 100. Defaults to 100 in a walk, because each page counts against the quota. */
  readonly limit?: number | undefined;
}

const walkLimit = 100;

/** Visible threads, most recent activity first. Nothing is requested until you iterate, and each iteration starts a new walk. */
export class ThreadList implements AsyncIterable<Thread> {
  readonly #transport: Transport;
  readonly #options: ListOptions;

  constructor(transport: Transport, options: ListOptions) {
    this.#transport = transport;
    this.#options = options;
  }

  /** Every thread of every page. To see `truncated`, iterate over `pages()`. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Thread, void, undefined> {
    for await (const { threads } of this.pages()) yield* threads;
  }

  /** Every page, starting after the cursor if there is one. `timeoutMs` applies to each page. */
  async *pages(cursor?: string): AsyncGenerator<ThreadPage, void, undefined> {
    let next: string | null | undefined = cursor;
    while (next !== null) {
      const page: ThreadPage = await this.#page(next, this.#options.limit ?? walkLimit);
      yield page;
      if (page.nextCursor === next) throw cursorDidNotAdvance();
      next = page.nextCursor;
    }
  }

  /** The first page, or the page after a cursor: the `nextCursor` of another page of the same list. */
  page(cursor?: string): Promise<ThreadPage> {
    return this.#page(cursor, this.#options.limit);
  }

  async #page(cursor: string | undefined, limit: number | undefined): Promise<ThreadPage> {
    const { accountId } = this.#options;
    const response = await this.#transport.request(
      { method: 'GET', path: '/threads', query: { limit, cursor, accountId }, isExpected: isPage },
      this.#options,
    );
    return response.body as ThreadPage;
  }
}

/** Without `nextCursor`, a walk would start over instead of ending. */
function isPage({ threads, nextCursor }: Readonly<Record<string, unknown>>): boolean {
  return isListOf(threads, isThread) && (nextCursor === null || typeof nextCursor === 'string');
}

function cursorDidNotAdvance(): UnexpectedResponseError {
  const message = 'GET /threads returned the cursor that it was given, so the list would never end.';
  return new UnexpectedResponseError(message, { code: 'UNEXPECTED_RESPONSE' });
}
