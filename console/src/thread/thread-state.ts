import type { Json, ThreadEvents } from '../api/contract.ts';

/** The known state of a thread. */
export interface ThreadState {
  readonly view: Json<'threadView'> | null;
  /**
   * The service's clock minus the page's, so that a wrong clock on this machine does not matter. Null before the first
   * event.
   */
  readonly clockAheadMs: number | null;
  /**
   * Counts events that did not fit the known state. After each one, the stream is opened again and starts with the full
   * state.
   */
  readonly unappliedProgress: number;
}

type ThreadChange =
  /** `pageMs` is the time of arrival on the page's monotonic clock. */
  | { readonly type: 'view'; readonly view: ThreadEvents['view']; readonly pageMs: number }
  | { readonly type: 'progress'; readonly progress: ThreadEvents['progress'] }
  /** The response to a rename or a publication. */
  | { readonly type: 'thread'; readonly thread: Json<'thread'> }
  /** The response to another request. It may be older than what the stream has sent since. */
  | { readonly type: 'response'; readonly view: Json<'threadView'>; readonly isLive: boolean };

/** Where the text of a reply comes from. Null if its verdict says it, and for small talk, which quotes nothing. */
export function describeOrigin({
  model,
  sources,
  verdict,
}: Pick<Json<'reply'>, 'model' | 'sources' | 'verdict'>): string | null {
  if (model !== 'extractive') return model;
  return verdict === null && sources !== null && sources.length > 0 ? 'Quoted from documents' : null;
}

export const nothingKnown: ThreadState = { view: null, clockAheadMs: null, unappliedProgress: 0 };

export function reduceThread(state: ThreadState, change: ThreadChange): ThreadState {
  switch (change.type) {
    case 'view': {
      const { now, ...view } = change.view;
      const clockAheadMs = Date.parse(now) - change.pageMs;
      return { ...state, view: keepEqual(state.view, view), clockAheadMs };
    }
    case 'progress': {
      const view = state.view && withProgress(state.view, change.progress);
      return view ? { ...state, view } : { ...state, unappliedProgress: state.unappliedProgress + 1 };
    }
    case 'thread':
      return {
        ...state,
        view: state.view && { ...state.view, thread: { ...state.view.thread, ...change.thread } },
      };
    case 'response':
      return { ...state, view: withResponse(state.view, change.view, change.isLive) };
  }
}

/** Whether a reply is being written. The thread accepts no prompt during this time. */
export function isRunning(reply: Json<'reply'> | undefined): boolean {
  return reply?.status === 'in_progress' || reply?.status === 'corroborating';
}

export function latestReply(view: Json<'threadView'> | null): Json<'reply'> | undefined {
  return view?.messages.findLast((message) => message.role === 'assistant');
}

/** Undefined if the preceding text or steps are missing. */
function withProgress(
  view: Json<'threadView'>,
  { messageId, status, stepsFrom, steps, textFrom, text }: ThreadEvents['progress'],
): Json<'threadView'> | undefined {
  const reply = view.messages.find(({ id }) => id === messageId);
  if (reply?.role !== 'assistant') return undefined;
  if (stepsFrom > reply.steps.length || textFrom > reply.content.length) return undefined;
  const grown: Json<'reply'> = {
    ...reply,
    status,
    steps: [...reply.steps.slice(0, stepsFrom), ...steps],
    content: reply.content.slice(0, textFrom) + text,
  };
  return withState({ ...view, messages: view.messages.map((one) => (one === reply ? grown : one)) });
}

/**
 * While the stream is live, only messages that it has not sent yet are taken from a response: a fast reply may have
 * ended before the response to its prompt arrives.
 */
function withResponse(
  known: Json<'threadView'> | null,
  response: Json<'threadView'>,
  isLive: boolean,
): Json<'threadView'> | null {
  if (known === null || !isLive) return keepEqual(known, response);
  const ids = new Set(known.messages.map(({ id }) => id));
  const unknown = response.messages.filter(({ id }) => !ids.has(id));
  return unknown.length === 0 ? known : withState({ ...known, messages: [...known.messages, ...unknown] });
}

function withState(view: Json<'threadView'>): Json<'threadView'> {
  const reply = latestReply(view);
  return { ...view, state: isRunning(reply) ? 'in_progress' : reply?.status === 'failed' ? 'error' : 'idle' };
}

/** The next view. Unchanged messages keep their objects, so that they are not rendered again. */
function keepEqual(known: Json<'threadView'> | null, next: Json<'threadView'>): Json<'threadView'> {
  if (known === null) return next;
  const byId = new Map(known.messages.map((message) => [message.id, message]));
  const messages = next.messages.map((message) => {
    const before = byId.get(message.id);
    return before && JSON.stringify(before) === JSON.stringify(message) ? before : message;
  });
  return { ...next, messages };
}
