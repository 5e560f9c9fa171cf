import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Limits } from '../../domain/limits.ts';
import { type EnteredSession, isSessionValid } from '../../usecases/people/sessions.ts';
import type { SurfaceContext } from '../../usecases/surface-context.ts';
import { followThread, type ThreadEvent } from '../../usecases/threads/follow-thread.ts';
import { chunksInTurns, type HeldRequests, type Piece, type Pieces } from '../long-responses.ts';
import { reportRequest } from '../request-log.ts';
import { presentEvent } from './thread-presentation.ts';

/** Shorter than the idle timeout of common proxies. */
const heartbeatMs = 15_000;
/** Any process can end a session, so the store is asked. It answers all streams of a node together. */
const sessionCheckMs = 1_000;
/** After this the browser reconnects, and so uses a proxy or node that was added in the meantime. */
const streamMsMax = 3_600_000;

interface Following {
  readonly context: SurfaceContext;
  readonly session: EnteredSession;
  readonly reply: FastifyReply;
}

/** Returns a function that sends the event stream of a thread and resolves at its end. */
export function threadEventStreams(heldRequests: HeldRequests, limits: Limits) {
  const takePlace = streamPlaces(limits.streamsPerPersonMax);

  /** Rejects without a response if the thread cannot be read. All streams end when the service stops. */
  return async (following: Following, threadId: string): Promise<void> => {
    const { context, session, reply } = following;
    const { organizationId, userId } = session.principal;
    const closing = new AbortController();
    const close = () => closing.abort();
    const events = followThread({ context, principal: session.principal }, threadId, closing.signal);
    // The first event is read before the stream starts, so that an unreadable thread is a normal error response.
    const first = await events.next();
    if (first.done) return;
    const leave = takePlace(userId, close);
    const stream = new EventStream(organizationId, reply, closing, limits.streamWriteTimeoutMs);
    const stopWatching = watchSession(following, stream, close);
    try {
      reportRequest(context)(reply.request, reply);
      await heldRequests.hold(reply.raw, streamMsMax, async (until) => {
        until.addEventListener('abort', close, { once: true });
        if (until.aborted || reply.raw.destroyed) close();
        await sendAll(following, stream, first.value, events).catch((error: unknown) => {
          // The browser reconnects, and gets an error response if the thread still cannot be read.
          reply.log.info(
            { err: error, trace_id: reply.request.id },
            'stream closed: its thread cannot be read',
          );
        });
      });
    } finally {
      stopWatching();
      leave();
      close();
      stream.end();
    }
  };
}

async function sendAll(
  { context, session }: Following,
  stream: EventStream,
  first: ThreadEvent,
  rest: AsyncGenerator<ThreadEvent>,
): Promise<void> {
  await stream.send(...presentEvent(first, context.now()));
  for await (const event of rest) {
    // A person who was signed out or removed sees nothing more. If the check fails, the browser reconnects.
    const isValid = await isSessionValid(context, session).catch(() => undefined);
    if (isValid === undefined) return;
    await stream.send(...presentEvent(isValid ? event : { type: 'gone' }, context.now()));
    if (!isValid) return;
  }
}

/** Ends the stream when the person may no longer read. Returns a function that stops the checks. */
function watchSession(
  { context, session, reply }: Following,
  stream: EventStream,
  close: () => void,
): () => void {
  let isChecking = false;
  const check = async () => {
    if (isChecking) return;
    isChecking = true;
    try {
      if (await isSessionValid(context, session)) return;
      await stream.send(...presentEvent({ type: 'gone' }, context.now()));
      close();
    } catch (error) {
      // The next check asks again. Until then the stream shows nothing new, because the store does not answer.
      reply.log.info(
        { err: error, trace_id: reply.request.id },
        'the session of a stream could not be checked',
      );
    } finally {
      isChecking = false;
    }
  };
  const timers = [setInterval(check, sessionCheckMs), setInterval(() => stream.sendHeartbeat(), heartbeatMs)];
  return () => timers.forEach(clearInterval);
}

/**
 * Limits the streams that one person has open in this process. One too many closes the oldest, which may belong to a
 * window that lost its network: such windows never lock a person out.
 */
export function streamPlaces(perPerson: number) {
  /** By person, in order of opening. */
  const openByPerson = new Map<string, Set<() => void>>();

  /** `close` ends the stream. Returns a function to call when it has ended. */
  return (person: string, close: () => void): (() => void) => {
    const open = openByPerson.get(person) ?? new Set();
    openByPerson.set(person, open);
    const end = () => close();
    open.add(end);
    const [oldest] = open;
    if (oldest !== undefined && open.size > perPerson) {
      open.delete(oldest);
      oldest();
    }
    return () => {
      open.delete(end);
      if (open.size === 0 && openByPerson.get(person) === open) openByPerson.delete(person);
    };
  };
}

/** How soon a browser reconnects after a broken stream. */
const retryMs = 1000;
/** How long the end of a stream waits for a peer that does not read. */
const lingerMs = 500;

/** Server-sent events to one peer. It buffers one chunk at a time: senders wait for the peer. */
class EventStream {
  readonly #organizationId: string;
  readonly #reply: FastifyReply;
  readonly #response: ServerResponse;
  readonly #closing: AbortController;
  readonly #writeTimeoutMs: number;
  /** Whether an event is half sent: nothing else may be written in between. */
  #isSending = false;

  /**
   * Takes the response over from the framework, and sends status and headers at once. Disconnects the peer and aborts
   * `closing` if it takes no chunk for `writeTimeoutMs`.
   */
  constructor(organizationId: string, reply: FastifyReply, closing: AbortController, writeTimeoutMs: number) {
    this.#organizationId = organizationId;
    reply.hijack();
    this.#reply = reply;
    this.#response = reply.raw;
    this.#closing = closing;
    this.#writeTimeoutMs = writeTimeoutMs;
    this.#response.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Tells proxies not to buffer the stream.
      'x-accel-buffering': 'no',
    });
    this.#response.write(`retry: ${retryMs}\n\n`);
  }

  /**
   * Resolves when the peer can take more, or the stream is closed; an event may then have been sent in part, which browsers
   * discard. Does nothing while another event is being sent.
   */
  async send(event: string, data: Pieces): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    for await (const chunk of chunksInTurns(this.#organizationId, eventPieces(event, data))) {
      if (!this.#isClosed) await this.#write(chunk);
      // Do not load another chunk that nobody reads.
      if (this.#isClosed) return;
    }
    this.#isSending = false;
  }

  /** Shows the peer and proxies that the stream is alive. */
  sendHeartbeat(): void {
    if (this.#isSending || this.#isClosed || this.#response.writableNeedDrain) return;
    this.#response.write(': still here\n\n');
  }

  end(): void {
    if (this.#response.destroyed) return;
    const giveUp = setTimeout(() => this.#response.destroy(), lingerMs);
    this.#response.once('close', () => clearTimeout(giveUp));
    this.#response.end();
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted || this.#response.writableEnded || this.#response.destroyed;
  }

  /** Waits for the callback of the write and not for `drain`, which a response can miss although everything was sent. */
  #write(chunk: Buffer): Promise<void> {
    const { signal } = this.#closing;
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      if (this.#response.write(chunk, done)) return done();
      timer = setTimeout(() => {
        this.#reply.log.info({ trace_id: this.#reply.request.id }, 'stream closed: its peer does not read');
        this.#response.destroy();
        this.#closing.abort();
      }, this.#writeTimeoutMs);
      signal.addEventListener('abort', done);
      if (signal.aborted) done();
    });
  }
}

async function* eventPieces(event: string, data: Pieces): AsyncGenerator<Piece> {
  yield `event: ${event}\ndata: `;
  yield* data;
  yield '\n\n';
}
