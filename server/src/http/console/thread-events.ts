import type { FastifyReply } from 'fastify';
import type { Limits } from '../../domain/limits.ts';
import type { EnteredSession } from '../../usecases/people/sessions.ts';
import { isSessionValid } from '../../usecases/people/sessions.ts';
import type { SurfaceContext } from '../../usecases/surface-context.ts';
import { followThread, type ThreadEvent } from '../../usecases/threads/follow-thread.ts';
import type { HeldRequests } from '../held-requests.ts';
import { reportRequest } from '../request-log.ts';
import { EventStream } from './event-stream.ts';
import { StreamPlaces } from './stream-places.ts';
import { presentEvent } from './thread-presentation.ts';

/** Shorter than the pause after which proxies commonly take a connection for dead. */
const beatMs = 15_000;
/** Then the browser opens another: what was set up anew meanwhile, a proxy say, is used. */
const streamMsMax = 3_600_000;

interface Following {
  readonly context: SurfaceContext;
  readonly session: EnteredSession;
  readonly reply: FastifyReply;
}

/** Streams of threads, which all end when the service stops. */
export class ThreadEventStreams {
  readonly #heldRequests: HeldRequests;
  readonly #places: StreamPlaces;
  readonly #writeTimeoutMs: number;

  constructor(heldRequests: HeldRequests, { streamsPerPersonMax, streamWriteTimeoutMs }: Limits) {
    this.#heldRequests = heldRequests;
    this.#places = new StreamPlaces(streamsPerPersonMax);
    this.#writeTimeoutMs = streamWriteTimeoutMs;
  }

  /** Answers with a stream and resolves at its end; rejects, without an answer, where the thread cannot be read. */
  async follow(following: Following, threadId: string): Promise<void> {
    const { context, session, reply } = following;
    const closing = new AbortController();
    const close = () => closing.abort();
    const events = followThread(context, session.principal, threadId, closing.signal);
    // A thread that cannot be read is answered as everywhere: the stream begins after that.
    const first = await events.next();
    if (first.done) return;
    const leave = this.#places.take(session.principal.userId, close);
    const stream = new EventStream(reply, closing, this.#writeTimeoutMs);
    const stopBeating = beat(following, stream, close);
    try {
      reportRequest(context)(reply.request, reply, null, () => {});
      await this.#heldRequests.hold(reply.raw, streamMsMax, async (until) => {
        until.addEventListener('abort', close, { once: true });
        if (until.aborted || reply.raw.destroyed) close();
        await sendAll(following, stream, first.value, events).catch((error: unknown) => {
          // The browser opens the stream again, and is told then if the thread cannot be read.
          reply.log.info(
            { err: error, trace_id: reply.request.id },
            'stream closed: its thread cannot be read',
          );
        });
      });
    } finally {
      stopBeating();
      leave();
      close();
      stream.end();
    }
  }
}

async function sendAll(
  { context, session }: Following,
  stream: EventStream,
  first: ThreadEvent,
  rest: AsyncGenerator<ThreadEvent>,
): Promise<void> {
  await stream.send(...presentEvent(first, context.now()));
  for await (const event of rest) {
    // Whoever was signed out or removed meanwhile is shown nothing more. Where it cannot be known, the browser comes again.
    const lasts = await isSessionValid(context, session).catch(() => undefined);
    if (lasts === undefined) return;
    await stream.send(...presentEvent(lasts ? event : { type: 'gone' }, context.now()));
    if (!lasts) return;
  }
}

/** Asks at intervals, and when a session of the person has ended, whether they may still see this. Returns how to stop. */
function beat({ context, session, reply }: Following, stream: EventStream, close: () => void): () => void {
  const check = async () => {
    try {
      if (await isSessionValid(context, session)) return stream.beat();
      await stream.send(...presentEvent({ type: 'gone' }, context.now()));
      close();
    } catch (error) {
      // A store that does not answer is asked again at the next beat; it shows nothing new meanwhile.
      reply.log.info({ err: error, trace_id: reply.request.id }, 'a session could not be asked for');
    }
  };
  const timer = setInterval(check, beatMs);
  const unfollow = context.sessionSignals.follow(session.principal.userId, check);
  return () => {
    clearInterval(timer);
    unfollow();
  };
}
