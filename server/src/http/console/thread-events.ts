import { ServiceError } from '../../domain/errors.ts';
import type { Limits } from '../../domain/limits.ts';
import { memberKey } from '../../domain/principal.ts';
import type { ThreadEvent } from '../../usecases/threads/follow-thread.ts';
import type { Threads } from '../../usecases/threads/threads.ts';
import { type ReportRequest, reportReply } from '../request-log.ts';
import { chunksInTurns, type HeldRequests, type Piece } from '../wire/index.ts';
import type { MemberCall } from './route.ts';
import type { ThreadPresentation } from './thread-presentation.ts';

/** Shorter than the idle timeout of common proxies. */
const heartbeatMs = 15_000;
/** Any process can end a session, so the store is asked. It answers all streams of a node together. */
const sessionCheckMs = 1_000;
/** After this the browser reconnects, and so uses a proxy or node that was added in the meantime. */
const streamMsMax = 3_600_000;

type PresentEvent = ThreadPresentation['presentEvent'];

interface StreamNeeds {
  readonly threads: Pick<Threads, 'follow'>;
  readonly presentEvent: PresentEvent;
  readonly now: () => number;
  readonly heldRequests: HeldRequests;
  readonly report: ReportRequest;
  readonly limits: Pick<Limits, 'streamsPerPersonMax' | 'streamWriteTimeoutMs'>;
}

/** Returns a function that sends the event stream of a thread and resolves at its end. */
export function threadEventStreams(needs: StreamNeeds) {
  const { threads, presentEvent, now, heldRequests, report, limits } = needs;
  const takeSlot = streamSlots(limits.streamsPerPersonMax);
  const watch = sessionWatches();

  /** Rejects without a response if the thread cannot be read. All streams end when the service stops. */
  return async (call: MemberCall, threadId: string): Promise<void> => {
    const { session, reply } = call;
    const closing = new AbortController();
    const close = () => closing.abort();
    const events = threads.follow(session.principal, threadId, closing.signal);
    // The first event is read before the stream starts, so that an unreadable thread is a normal error response.
    const first = await events.next();
    if (first.done) return;
    const leave = takeSlot(memberKey(session.principal), close);
    const { organizationId } = session.principal;
    const encode = (event: ThreadEvent) => encodeEvent(presentEvent(organizationId, event, now()));
    const stream = openEventStream(call, closing, encode, limits.streamWriteTimeoutMs);
    const { mayRead, stopWatching } = watchSession(call, stream, close, watch);
    try {
      reportReply(report, reply.request, reply);
      await heldRequests.hold(call.organizationId, reply.raw, streamMsMax, async (until) => {
        until.addEventListener('abort', close, { once: true });
        if (until.aborted || reply.raw.destroyed) close();
        await stream.send(first.value);
        for await (const event of events) if (await mayRead()) await stream.send(event);
      });
    } catch (error) {
      // The browser reconnects, and gets an error response if the thread still cannot be read.
      reply.log.info(
        { err: error, trace_id: reply.request.id },
        'closed stream: failed to read its thread or session',
      );
    } finally {
      stopWatching();
      leave();
      close();
      stream.end();
    }
  };
}

/** `mayRead` checks the session, as does a timer. The stream of a person who may no longer read ends with `gone`. */
function watchSession(
  { recheck, reply, session }: MemberCall,
  stream: EventStream,
  close: () => void,
  watch: ReturnType<typeof sessionWatches>,
) {
  const isRefused = async (): Promise<boolean> => {
    const refusal = await recheck().catch((error: unknown) => error);
    if (refusal === undefined || refusal instanceof ServiceError) return refusal !== undefined;
    throw refusal;
  };
  const end = async () => {
    await stream.send({ type: 'gone' });
    close();
  };
  const mayRead = async (): Promise<boolean> => {
    if (!(await isRefused())) return true;
    await end();
    return false;
  };
  // The next check asks again. Until then the stream shows nothing new, because the store does not answer.
  const check = () =>
    isRefused().catch((error: unknown) => {
      const fields = { err: error, trace_id: reply.request.id };
      reply.log.info(fields, 'failed to check stream session');
      return false;
    });
  const unwatch = watch(`${session.tokenHash} ${session.principal.organizationId}`, { check, end });
  const heartbeat = setInterval(() => stream.sendHeartbeat(), heartbeatMs);
  const stopWatching = () => {
    clearInterval(heartbeat);
    unwatch();
  };
  return { mayRead, stopWatching };
}

interface WatchedStream {
  /** Whether the session may no longer read. */
  readonly check: () => Promise<boolean>;
  readonly end: () => Promise<void>;
}

/**
 * Checks each session once a second for all of its streams in an organization. With a check for each stream, 1,200 idle
 * streams took a tenth of a processor.
 */
export function sessionWatches() {
  const streamsOf = new Map<
    string,
    { readonly streams: Set<WatchedStream>; readonly timer: NodeJS.Timeout }
  >();

  function start(key: string) {
    const streams = new Set<WatchedStream>();
    let isChecking = false;
    const timer = setInterval(async () => {
      const [one] = streams;
      if (isChecking || one === undefined) return;
      isChecking = true;
      if (await one.check()) {
        // A peer that does not read delays the end of its own stream only.
        for (const stream of streams) void stream.end();
        streams.clear();
      }
      isChecking = false;
    }, sessionCheckMs);
    const started = { streams, timer };
    streamsOf.set(key, started);
    return started;
  }

  /** Returns a function that ends the watching of this stream. */
  return (key: string, stream: WatchedStream): (() => void) => {
    const { streams, timer } = streamsOf.get(key) ?? start(key);
    streams.add(stream);
    return () => {
      streams.delete(stream);
      if (streams.size > 0) return;
      clearInterval(timer);
      if (streamsOf.get(key)?.streams === streams) streamsOf.delete(key);
    };
  };
}

/** Limits the open streams of a member. A stream above the limit closes the oldest, whose window may be offline. */
export function streamSlots(perMember: number) {
  /** In order of opening. */
  const openByMember = new Map<string, Set<() => void>>();

  /** `close` ends the stream. Returns a function to call when it has ended. */
  return (member: string, close: () => void): (() => void) => {
    const open = openByMember.get(member) ?? new Set();
    openByMember.set(member, open.add(close));
    const [oldest] = open;
    if (open.size > perMember) {
      open.delete(oldest!);
      oldest!();
    }
    return () => {
      open.delete(close);
      if (open.size === 0 && openByMember.get(member) === open) openByMember.delete(member);
    };
  };
}

/** How soon a browser reconnects after a broken stream. */
const retryMs = 1000;
/** How long the end of a stream waits for a peer that does not read. */
const lingerMs = 500;

type EventStream = ReturnType<typeof openEventStream>;

/**
 * Server-sent events to one peer. Takes the response over from the framework, and sends status and headers at once. Buffers
 * one chunk at a time: senders wait for the peer. Disconnects it and aborts `closing` if it takes no chunk for
 * `writeTimeoutMs`.
 */
function openEventStream(
  { session, reply }: MemberCall,
  closing: AbortController,
  encode: (event: ThreadEvent) => AsyncIterable<Piece>,
  writeTimeoutMs: number,
) {
  const { organizationId } = session.principal;
  const { raw: response } = reply.hijack();
  /** Whether an event is half sent: nothing else may be written in between. */
  let isSending = false;
  const isClosed = () => closing.signal.aborted || response.writableEnded || response.destroyed;
  const giveUp = () => {
    reply.log.info({ trace_id: reply.request.id }, 'closed stream: client is not reading');
    response.destroy();
    closing.abort();
  };
  response.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // Tells proxies not to buffer the stream.
    'x-accel-buffering': 'no',
  });
  response.write(`retry: ${retryMs}\n\n`);

  /** Waits for the callback of the write and not for `drain`, which a response can miss although everything was sent. */
  const write = (chunk: Buffer) =>
    new Promise<void>((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const done = () => {
        clearTimeout(timer);
        closing.signal.removeEventListener('abort', done);
        resolve();
      };
      if (response.write(chunk, done)) return done();
      timer = setTimeout(giveUp, writeTimeoutMs);
      closing.signal.addEventListener('abort', done);
      if (closing.signal.aborted) done();
    });

  return {
    /**
     * Resolves when the peer can take more, or the stream is closed; an event may then have been sent in part, which
     * browsers discard. Does nothing while another event is being sent.
     */
    async send(event: ThreadEvent): Promise<void> {
      if (isSending) return;
      isSending = true;
      for await (const chunk of chunksInTurns(organizationId, encode(event))) {
        if (!isClosed()) await write(chunk);
        // Do not load another chunk that nobody reads.
        if (isClosed()) return;
      }
      isSending = false;
    },

    /** Shows the page and proxies that the stream is alive. An event, because pages do not see comments. */
    sendHeartbeat(): void {
      if (!isSending && !isClosed() && !response.writableNeedDrain)
        response.write('event: beat\ndata: {}\n\n');
    },

    end(): void {
      if (response.destroyed) return;
      const timer = setTimeout(() => response.destroy(), lingerMs);
      response.once('close', () => clearTimeout(timer)).end();
    },
  };
}

async function* encodeEvent([name, data]: ReturnType<PresentEvent>): AsyncGenerator<Piece> {
  yield `event: ${name}\ndata: `;
  yield* data;
  yield '\n\n';
}
