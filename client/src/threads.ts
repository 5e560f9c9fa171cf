import { addTo } from './errors.ts';
import { type Look, type Reply, untilReplied, type WaitOptions } from './reply.ts';
import { asObject, asText, type BufferedResponse, isListOf, isThread } from './response.ts';
import { type ListOptions, ThreadList } from './thread-list.ts';
import type { CallOptions, Transport } from './transport.ts';
import type {
  CreatedThread,
  CreateThreadBody,
  DeletedThread,
  RenamedThread,
  Thread,
  ThreadWithMessages,
} from './types.ts';

/** No service holds its response longer. */
const waitSecondsMax = 25;

export interface CreateOptions extends CallOptions {
  /** Generated for each call by default. Within 24 hours, the same key and body do not create a second thread. */
  readonly idempotencyKey?: string | undefined;
}

export interface GetOptions extends CallOptions {
  /** Lets the service hold its response until the reply has ended, for at most this many whole seconds (up to 25). */
  readonly waitSeconds?: number | undefined;
}

export interface AskOptions extends WaitOptions, Readonly<Omit<CreateThreadBody, 'prompt'>> {
  /**
   * Generated for each call by default. Within 24 hours, the same key, prompt and options do not create a second
   * thread.
   */
  readonly idempotencyKey?: string | undefined;
}

/** A thread and the etag of this read. */
export interface ThreadRead extends ThreadWithMessages {
  /** Pass it to another `get`, which returns null if nothing has changed. */
  readonly etag: string | undefined;
}

/** The threads that the credential can access. */
export class Threads {
  readonly #transport: Transport;
  readonly #replyTimeoutMs: number;

  constructor(transport: Transport, replyTimeoutMs: number) {
    this.#transport = transport;
    this.#replyTimeoutMs = replyTimeoutMs;
  }

  /**
   * Creates a thread; its reply is generated in the background. Failed requests are retried safely with the same
   * Idempotency-Key. Needs a personal key.
   */
  async create(body: CreateThreadBody, options: CreateOptions = {}): Promise<CreatedThread> {
    const { idempotencyKey = randomId() } = options;
    const headers = { 'idempotency-key': idempotencyKey };
    try {
      const response = await this.#transport.request(
        { method: 'POST', path: '/threads', headers, body, isExpected: hasThread },
        options,
      );
      return response.body as CreatedThread;
    } catch (error) {
      throw addTo(error, { idempotencyKey });
    }
  }

  /** Reads a thread with all of its messages and its status; with the etag of an earlier read, null if nothing has changed. */
  get(id: string, options?: GetOptions): Promise<ThreadRead>;
  get(id: string, options: GetOptions & { readonly etag: string | undefined }): Promise<ThreadRead | null>;
  async get(
    id: string,
    options: GetOptions & { etag?: string | undefined } = {},
  ): Promise<ThreadRead | null> {
    const { status, headers, body } = await this.#read(id, options);
    if (status === 304) return null;
    return { ...(body as ThreadWithMessages), etag: headers.get('etag') ?? undefined };
  }

  /** Lists threads. `for await` walks all of them; `pages()` and `page()` return whole pages. */
  list(options: ListOptions = {}): ThreadList {
    return new ThreadList(this.#transport, options);
  }

  /** Renames a thread, which moves it to the top of lists. Only its creator can. */
  async rename(id: string, title: string, options: CallOptions = {}): Promise<Thread> {
    const response = await this.#transport.request(
      { method: 'PATCH', path: buildPath(id), body: { title }, isExpected: hasThread },
      options,
    );
    return (response.body as RenamedThread).thread;
  }

  /**
   * Deletes a thread and cancels its running reply. Only its creator can. If a request got no response and its retry
   * finds no thread, the thread counts as deleted, because the first request may have deleted it.
   */
  async delete(id: string, options: CallOptions = {}): Promise<DeletedThread> {
    const afterLostAttempt = (response: BufferedResponse): BufferedResponse =>
      (response.body as { error?: { code?: unknown } } | undefined)?.error?.code === 'NOT_FOUND'
        ? { ...response, status: 200, body: { id, deleted: true } satisfies DeletedThread }
        : response;
    const response = await this.#transport.request(
      { method: 'DELETE', path: buildPath(id), isExpected: isDeleted, afterLostAttempt },
      options,
    );
    return response.body as DeletedThread;
  }

  /**
   * Creates a thread and waits for its reply. Rejects with a `ReplyFailedError` if the reply fails or is cancelled. If
   * the call is aborted, times out or fails after the thread was created, the error has its id in `threadId`; call
   * `wait` to continue.
   */
  async ask(prompt: string, options: AskOptions = {}): Promise<Reply> {
    const { title, accountId, secondaryId, idempotencyKey, ...waiting } = options;
    const timeoutMs = options.timeoutMs ?? this.#replyTimeoutMs;
    const startedAt = performance.now();
    const { signal } = options;
    const created = await this.create(
      { prompt, title, accountId, secondaryId },
      { signal, timeoutMs: options.timeoutMs, idempotencyKey },
    );
    const leftMs = Math.max(0, Math.ceil(timeoutMs - (performance.now() - startedAt)));
    return this.#untilReplied(created.thread.id, created.responseMessageId, {
      ...waiting,
      timeoutMs: leftMs,
    });
  }

  /** Waits for the latest reply in a thread like `ask` does, for example after a timeout or in another process. */
  wait(id: string, options: WaitOptions = {}): Promise<Reply> {
    const timeoutMs = options.timeoutMs ?? this.#replyTimeoutMs;
    return this.#untilReplied(id, undefined, { ...options, timeoutMs });
  }

  #untilReplied(
    id: string,
    responseMessageId: string | undefined,
    options: WaitOptions & { readonly timeoutMs: number },
  ): Promise<Reply> {
    const look = async (waitSeconds: number, signal: AbortSignal): Promise<Look> => {
      const { headers, body } = await this.#read(id, { waitSeconds, signal });
      return { ...(body as ThreadWithMessages), held: headers.has('preference-applied') };
    };
    return untilReplied(id, responseMessageId, look, options);
  }

  #read(id: string, options: GetOptions & { etag?: string | undefined }): Promise<BufferedResponse> {
    const { waitSeconds = 0, etag } = options;
    // RFC 7240 allows only whole seconds; services ignore anything else.
    const seconds = waitSeconds > 0 ? Math.min(Math.ceil(waitSeconds), waitSecondsMax) : 0;
    const prefer = seconds > 0 ? `wait=${seconds}` : undefined;
    const headers = { prefer, 'if-none-match': etag };
    return this.#transport.request(
      { method: 'GET', path: buildPath(id), headers, isExpected: hasMessages, holdMs: seconds * 1000 },
      options,
    );
  }
}

function hasThread({ thread }: Readonly<Record<string, unknown>>): boolean {
  return isThread(asObject(thread) ?? {});
}

function isDeleted({ id, deleted }: Readonly<Record<string, unknown>>): boolean {
  return deleted === true && asText(id) !== undefined;
}

function hasMessages(body: Readonly<Record<string, unknown>>): boolean {
  return (
    hasThread(body) &&
    isListOf(body.messages, isMessage) &&
    asText(asObject(body.status)?.state) !== undefined
  );
}

/** Checks the fields that this client itself reads. */
function isMessage({ id, role, content, steps, sources }: Readonly<Record<string, unknown>>): boolean {
  const isText = (value: unknown) => asText(value) !== undefined;
  const isStep = ({ description }: Readonly<Record<string, unknown>>) => isText(description);
  return (
    [id, role, content].every(isText) &&
    (steps === null || isListOf(steps, isStep)) &&
    (sources === null || isListOf(sources, ({ title }) => isText(title)))
  );
}

function buildPath(id: string): string {
  // Such an id would change the path of the URL.
  if (id === '' || id === '.' || id === '..') throw new TypeError(`'${id}' is not a thread id.`);
  return `/threads/${encodeURIComponent(id)}`;
}

/** A UUID. `crypto.randomUUID` is missing in pages that were loaded without TLS. */
function randomId(): string {
  const { crypto } = globalThis as { crypto?: Partial<typeof globalThis.crypto> };
  if (crypto?.randomUUID) return crypto.randomUUID();
  const bytes = crypto?.getRandomValues
    ? crypto.getRandomValues(new Uint8Array(16))
    : Uint8Array.from({ length: 16 }, () => Math.random() * 256);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
