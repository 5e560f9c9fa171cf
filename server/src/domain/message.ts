import type { MessageId, ThreadId } from './id.ts';

export const messageStatuses = ['in_progress', 'corroborating', 'completed', 'failed', 'cancelled'] as const;

export type MessageStatus = (typeof messageStatuses)[number];

export interface Step {
  readonly description: string;
  /** By the worker's clock. Missing in replies written before steps had a time. Not part of the public API. */
  readonly at?: number;
}

export interface Source {
  readonly id: string;
  readonly title: string;
  readonly url: string | null;
  readonly snippet: string;
}

/** The result of checking a reply's statements against the passages it was written from. */
export interface Verdict {
  readonly statements: number;
  readonly found: number;
  /** In the order of the text. A long reply may have more statements than are kept. */
  readonly checked: readonly CheckedStatement[];
}

export interface CheckedStatement {
  /** Its position in the reply's content, in UTF-16 units: `content.slice(start, end)`. */
  readonly start: number;
  readonly end: number;
  /** The numbers of the sources that support it, from 1. Empty if none does. */
  readonly sources: readonly number[];
}

/** Says how the documents support a reply, such as `7 of 9 statements found in 2 sources`. Null if they do not. */
export type DescribeSupport = (
  reply: Pick<AssistantMessage, 'model' | 'content' | 'sources'>,
  verdict: Verdict | null,
) => string | null;

/** Facts about a reply for the console that are not part of the public API. */
export interface ReplyDetails {
  /** Of the request that asked for the reply. */
  readonly traceId: string;
  /** Why it failed, or why its last attempt did. */
  readonly failure: string | null;
  readonly verdict: Verdict | null;
}

export interface UserMessage {
  readonly id: MessageId;
  readonly threadId: ThreadId;
  readonly role: 'user';
  readonly content: string;
  readonly createdAt: number;
  /** The prompt that this one, an edited version, supersedes with its replies. Not part of the public API. */
  readonly replaces?: MessageId;
}

/** The assistant message is itself the job of writing it, so no separate queue can disagree with it. */
export interface AssistantMessage extends Omit<UserMessage, 'role' | 'replaces'> {
  readonly role: 'assistant';
  readonly status: MessageStatus;
  readonly completedAt: number | null;
  readonly steps: readonly Step[];
  readonly sources: readonly Source[] | null;
  readonly model: string | null;
  /** Missing in a thread that is read as a whole. */
  readonly details?: ReplyDetails | undefined;
}

export type Message = UserMessage | AssistantMessage;

export const threadStates = ['idle', 'in_progress', 'error'] as const;
export type ThreadState = (typeof threadStates)[number];

export interface ThreadStatus {
  readonly state: ThreadState;
  readonly activeMessageId: MessageId | null;
  readonly latestUpdate: string | null;
  readonly stepCount: number;
}

const stateByStatus = {
  in_progress: 'in_progress',
  corroborating: 'in_progress',
  completed: 'idle',
  cancelled: 'idle',
  failed: 'error',
} as const satisfies Record<MessageStatus, ThreadState>;

/** §3.1: the status of the latest assistant message. It is never stored, so it cannot disagree with that message. */
export function deriveThreadStatus(messages: readonly Message[]): ThreadStatus {
  const latest = messages.findLast((message) => message.role === 'assistant');
  const state = latest === undefined ? 'idle' : stateByStatus[latest.status];
  if (latest === undefined || state !== 'in_progress') {
    return { state, activeMessageId: null, latestUpdate: null, stepCount: 0 };
  }
  return {
    state,
    activeMessageId: latest.id,
    latestUpdate: latest.steps.at(-1)?.description ?? 'Thinking',
    stepCount: latest.steps.length,
  };
}
