// Written by `npm run client:types` from openapi.json.

export type MessageStatus = 'in_progress' | 'corroborating' | 'completed' | 'failed' | 'cancelled';
export type ErrorCode =
  | 'INVALID_PARAMS'
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'RATE_LIMITED'
  | 'INTERNAL_ERROR';

export interface Thread {
  /** Stable thread identifier, prefixed `thr_`. */
  id: string;
  /** Human-readable title. */
  title: string;
  /** Creation time (UTC). */
  createdAt: string;
  /** Null if the thread was never updated. */
  updatedAt: string | null;
  /** Associated account id. */
  accountId: string | null;
  /** Secondary linkage, settable only at creation. */
  secondaryId: string | null;
  /** Whether the thread is published to the organization. */
  published: boolean;
  /** True after a soft delete. */
  deleted: boolean;
  /** Deep link to the thread. Null in the create response. */
  threadUrl: string | null;
}

export interface ThreadMessage {
  /** Message identifier, prefixed `msg_`. */
  id: string;
  threadId: string;
  role: 'user' | 'assistant';
  content: string;
  status: MessageStatus | null;
  /** Creation time (UTC). */
  createdAt: string;
  /** When the message reached a terminal state. */
  completedAt: string | null;
  steps: Step[] | null;
  sources: Source[] | null;
  attachments: unknown[] | null;
  /** Identifier of the model that produced the message. */
  model: string | null;
}
export interface Step {
  description: string;
}
export interface Source {
  id: string;
  title: string;
  url: string | null;
  snippet: string;
}

export interface ThreadStatus {
  state: 'idle' | 'in_progress' | 'error';
  activeMessageId: string | null;
  latestUpdate: string | null;
  stepCount: number;
}

export interface Failure {
  error: {
    code: ErrorCode;
    message: string;
    /** Unique id of the request; also in X-Request-Id. */
    trace_id: string;
  };
}

export interface CreateThreadBody {
  /** Stored as the first user message. */
  prompt: string;
  /** Generated from the prompt if omitted. */
  title?: string | undefined;
  /** Associates the thread with an account. */
  accountId?: string | undefined;
  /** Secondary linkage; can be set here only. */
  secondaryId?: string | undefined;
}

export interface CreatedThread {
  thread: Thread;
  /** The user message. */
  messageId: string;
  /** The assistant message that is being generated. */
  responseMessageId: string;
}

export interface ThreadPage {
  threads: Thread[];
  /** Null means there are no more pages. */
  nextCursor: string | null;
  /** Whether there are more threads than a walk can reach. */
  truncated: boolean;
}

export interface ThreadWithMessages {
  thread: Thread;
  messages: ThreadMessage[];
  status: ThreadStatus;
}

export interface RenamedThread {
  thread: Thread;
}

export interface DeletedThread {
  id: string;
  deleted: true;
}
