import type { ThreadEvents } from '../api/contract.ts';

export interface ThreadStreamOptions {
  readonly url: string;
  onView(view: ThreadEvents['view']): void;
  onProgress(progress: ThreadEvents['progress']): void;
  /** Whether events arrive. */
  onLive(isLive: boolean): void;
  /** The service ended or refused the stream. Resolves to whether the thread is gone for good. */
  isGone(): Promise<boolean>;
}

export interface ThreadStream {
  /** Begins again, with all there is. */
  restart(): void;
  close(): void;
}

const delaysMs = [300, 1_000, 2_000, 4_000, 8_000];

/**
 * Follows a thread for as long as somebody looks: a hidden page gives its connection back (a browser has six for a host on
 * HTTP/1.1, over all windows) and a page that is shown again begins with all there is.
 */
export function openThreadStream(options: ThreadStreamOptions): ThreadStream {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
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
    source = listen();
  };
  const later = () => {
    const delayMs = delaysMs[Math.min(failures++, delaysMs.length - 1)] as number;
    clearTimeout(timer);
    // Windows that lost the same service do not come back in the same moment.
    timer = setTimeout(connect, delayMs * (0.75 + Math.random() / 2));
  };
  const askAndReturn = async () => {
    disconnect();
    const isGone = await options.isGone().catch(() => false);
    if (isGone) close();
    else if (!ended && !document.hidden) later();
  };
  const listen = () => {
    const opened = new EventSource(options.url);
    opened.addEventListener('view', ({ data }) => {
      failures = 0;
      options.onLive(true);
      options.onView(JSON.parse(data));
    });
    opened.addEventListener('progress', ({ data }) => options.onProgress(JSON.parse(data)));
    opened.addEventListener('gone', () => void askAndReturn());
    opened.addEventListener('error', () => {
      const isRefused = opened.readyState === EventSource.CLOSED;
      disconnect();
      if (isRefused) void askAndReturn();
      else later();
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
