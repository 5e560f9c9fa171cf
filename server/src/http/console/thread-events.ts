import type { FastifyReply } from 'fastify';
import type { Limits } from '../../domain/limits.ts';
import { type EnteredSession, isSessionValid } from '../../usecases/people/sessions.ts';
import type { SurfaceContext } from '../../usecases/surface-context.ts';
import { followThread, type ThreadEvent } from '../../usecases/threads/follow-thread.ts';
import type { HeldRequests } from '../held-requests.ts';
import { reportRequest } from '../request-log.ts';
import { EventStream } from './event-stream.ts';
import { presentEvent } from './thread-presentation.ts';

/** Shorter than the idle timeout of common proxies. */
const beatMs = 15_000;
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
  const places = new StreamPlaces(limits.streamsPerPersonMax);

  /** Rejects without a response if the thread cannot be read. All streams end when the service stops. */
  return async (following: Following, threadId: string): Promise<void> => {
    const { context, session, reply } = following;
    const { organizationId, userId } = session.principal;
    const closing = new AbortController();
    const close = () => closing.abort();
    const events = followThread(context, session.principal, threadId, closing.signal);
    // The first event is read before the stream starts, so that an unreadable thread is a normal error response.
    const first = await events.next();
    if (first.done) return;
    const leave = places.take(userId, close);
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
    const lasts = await isSessionValid(context, session).catch(() => undefined);
    if (lasts === undefined) return;
    await stream.send(...presentEvent(lasts ? event : { type: 'gone' }, context.now()));
    if (!lasts) return;
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
  const timers = [setInterval(check, sessionCheckMs), setInterval(() => stream.beat(), beatMs)];
  return () => timers.forEach(clearInterval);
}

/**
 * Limits the streams that one person has open in this process. One too many closes the oldest, which may belong to a
 * window that lost its network: such windows never lock a person out.
 */
export class StreamPlaces {
  readonly #perPerson: number;
  /** By person, in order of opening. */
  readonly #open = new Map<string, Set<() => void>>();

  constructor(perPerson: number) {
    this.#perPerson = perPerson;
  }

  /** `close` ends the stream. Returns a function to call when it has ended. */
  take(person: string, close: () => void): () => void {
    const open = this.#open.get(person) ?? new Set();
    this.#open.set(person, open);
    const end = () => close();
    open.add(end);
    if (open.size > this.#perPerson) {
      const [oldest] = open;
      if (oldest !== undefined) open.delete(oldest);
      oldest?.();
    }
    return () => {
      open.delete(end);
      if (open.size === 0 && this.#open.get(person) === open) this.#open.delete(person);
    };
  }
}
