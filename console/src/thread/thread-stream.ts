import type { ThreadEvents } from '../api/contract.ts';

interface ThreadStreamOptions {
  readonly url: string;
  onView(view: ThreadEvents['view']): void;
  onProgress(progress: ThreadEvents['progress']): void;
  /** Called when events start or stop arriving. */
  onLive(isLive: boolean): void;
  /** Called when the service ended or rejected the stream. Resolves to whether the thread is gone for good. */
  isGone(): Promise<boolean>;
}

export interface ThreadStream {
  /** Opens the stream again, which sends the full state. */
  restart(): void;
  close(): void;
}

const delaysMs = [300, 1_000, 2_000, 4_000, 8_000];
/** A stream that breaks earlier counts as a failure: a proxy may cut every stream after its first event. */
const settledMs = 10_000;
/** The service sends a heartbeat every 15 s. A stream that is silent for longer than this is opened again. */
const silentMsMax = 60_000;

/**
 * Follows a thread while the page is visible. A hidden page closes its connection, because on HTTP/1.1 a browser has
 * only six per host for all windows. When the page is shown again, the stream starts with the full state.
 */
export function openThreadStream(options: ThreadStreamOptions): ThreadStream {
  let source: EventSource | undefined;
  /** Opens the next stream, or gives up the current one. */
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  /** When the current or last stream sent its first event, on the clock of the page. */
  let liveSince = Number.POSITIVE_INFINITY;
  let ended = false;

  const disconnect = () => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
    options.onLive(false);
  };
  const connect = () => {
    disconnect();
    if (ended || document.hidden) return;
    liveSince = Number.POSITIVE_INFINITY;
    source = listen();
  };
  const later = () => {
    if (performance.now() - liveSince > settledMs) failures = 0;
    const delayMs = delaysMs[Math.min(failures++, delaysMs.length - 1)] as number;
    clearTimeout(timer);
    // Random jitter, so that windows that lost the same service do not reconnect at the same moment.
    timer = setTimeout(connect, delayMs * (0.75 + Math.random() / 2));
  };
  const askAndReturn = async () => {
    disconnect();
    const isGone = await options.isGone().catch(() => false);
    if (isGone) close();
    else if (!ended && !document.hidden) later();
  };
  const lose = () => {
    disconnect();
    later();
  };
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(lose, silentMsMax);
  };
  const listen = () => {
    const opened = new EventSource(options.url);
    opened.addEventListener('view', ({ data }) => {
      heard();
      liveSince = Math.min(liveSince, performance.now());
      options.onLive(true);
      options.onView(JSON.parse(data));
    });
    opened.addEventListener('progress', ({ data }) => {
      heard();
      options.onProgress(JSON.parse(data));
    });
    opened.addEventListener('beat', heard);
    opened.addEventListener('gone', () => void askAndReturn());
    opened.addEventListener('error', () => {
      if (opened.readyState === EventSource.CLOSED) void askAndReturn();
      else lose();
    });
    return opened;
  };
  const close = () => {
    ended = true;
    disconnect();
    document.removeEventListener('visibilitychange', connect);
    removeEventListener('online', connect);
  };

  document.addEventListener('visibilitychange', connect);
  addEventListener('online', connect);
  connect();
  return { restart: connect, close };
}
