import { type Corroboration, corroborationOf } from './corroboration.ts';
import { AbortedError, addTo, ReplyFailedError, TimeoutError, UnexpectedResponseError } from './errors.ts';
import { pause, withTimeLimit } from './time-limits.ts';
import type { CallOptions } from './transport.ts';
import type { Source, Step, Thread, ThreadMessage, ThreadWithMessages } from './types.ts';

/** How to wait for a reply. */
export interface WaitOptions extends CallOptions {
  /**
   * Called with each reasoning step, soon after it was taken. With this option, the client reads the thread about once
   * a second.
   */
  readonly onStep?: ((step: Step) => void) | undefined;
  /** Called with the text so far whenever it changes: when it grows, or when the reply starts again. */
  readonly onText?: ((textSoFar: string) => void) | undefined;
}

/** A completed reply with its thread. */
export interface Reply {
  readonly thread: Thread;
  readonly messages: ThreadMessage[];
  readonly reply: ThreadMessage;
  /** The reply's text. */
  readonly text: string;
  /** The sources that the reply cites; empty if there are none. */
  readonly sources: Source[];
  /** How many of its statements the service found in the documents; null if they were not checked. */
  readonly corroboration: Corroboration | null;
}

/** One read of a thread, and whether the service held its response as requested. */
export interface Look extends ThreadWithMessages {
  readonly held: boolean;
}

/** Longer than nearly every reply, shorter than the 30 s after which many proxies cut a silent request. */
const waitSeconds = 20;
const waitSecondsWhenWatched = 1;
const firstPollMs = 250;
const pollMsMax = 5_000;
const ended: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled']);

/**
 * Reads a thread until its reply has ended. Every error names the thread, because the reply continues without the
 * caller.
 */
export async function untilReplied(
  threadId: string,
  responseMessageId: string | undefined,
  look: (waitSeconds: number, signal: AbortSignal) => Promise<Look>,
  options: WaitOptions & { readonly timeoutMs: number },
): Promise<Reply> {
  try {
    return await withTimeLimit(options, `The reply in ${threadId}`, (signal) =>
      watch(responseMessageId, (seconds) => look(seconds, signal), options, signal),
    );
  } catch (error) {
    throw addTo(explained(error, threadId), { threadId });
  }
}

async function watch(
  responseMessageId: string | undefined,
  look: (waitSeconds: number) => Promise<Look>,
  { onStep, onText }: WaitOptions,
  signal: AbortSignal,
): Promise<Reply> {
  const watched = onStep !== undefined || onText !== undefined;
  const seconds = watched ? waitSecondsWhenWatched : waitSeconds;
  const report = reporter(onStep, onText);
  let wanted = responseMessageId;
  for (let unheld = 0; ; ) {
    const startedAt = performance.now();
    const { thread, messages, held } = await look(seconds);
    const reply = replyAmong(thread, messages, wanted);
    wanted = reply.id;
    report(reply);
    if (ended.has(reply.status)) return readOutcome(thread, messages, reply);
    const tookMs = performance.now() - startedAt;
    // A service that claims to have waited but did not is not asked again immediately.
    unheld = held && tookMs >= seconds * 500 ? 0 : unheld + 1;
    const pollMs = Math.min(firstPollMs * 1.5 ** (unheld - 1), watched ? 1_000 : pollMsMax);
    if (unheld > 0) await pause(Math.max(0, pollMs - tookMs), signal);
  }
}

function replyAmong(thread: Thread, messages: ThreadMessage[], wanted: string | undefined): ThreadMessage {
  const isWanted = ({ id, role }: ThreadMessage) =>
    wanted === undefined ? role === 'assistant' : id === wanted;
  const found = messages.filter(isWanted).at(-1);
  if (found !== undefined) return found;
  throw new UnexpectedResponseError(`${thread.id} has no reply${wanted === undefined ? '' : ` ${wanted}`}.`, {
    code: 'UNEXPECTED_RESPONSE',
  });
}

function readOutcome(thread: Thread, messages: ThreadMessage[], reply: ThreadMessage): Reply {
  if (reply.status !== 'completed') throw new ReplyFailedError(thread, messages, reply);
  return {
    thread,
    messages,
    reply,
    text: reply.content,
    sources: reply.sources ?? [],
    corroboration: corroborationOf(reply),
  };
}

/**
 * Reports changes since the last read. If a reply started again after a crash, the steps that differ are reported
 * again.
 */
function reporter(
  onStep: WaitOptions['onStep'],
  onText: WaitOptions['onText'],
): (reply: ThreadMessage) => void {
  let reported: Step[] = [];
  let text = '';
  return ({ status, steps, content }) => {
    const taken = steps ?? [];
    const same = taken.findIndex((step, index) => step.description !== reported[index]?.description);
    for (const step of same === -1 ? [] : taken.slice(same)) onStep?.(step);
    reported = taken;
    // A failed reply's content is a sentence about the failure.
    if (content === text || status === 'failed') return;
    text = content;
    onText?.(content);
  };
}

/** Adds to a timeout or an abort how to continue waiting, because the reply itself continues. */
function explained(error: unknown, threadId: string): unknown {
  if (!(error instanceof TimeoutError || error instanceof AbortedError)) return error;
  const message = `${error.message} The reply continues: threads.wait('${threadId}') waits for it.`;
  if (error instanceof AbortedError) return new AbortedError(message, error.cause);
  return new TimeoutError(message, { code: 'TIMEOUT', cause: error.cause });
}
