export { type Corroboration, corroborationOf } from './corroboration.ts';
export {
  AbortedError,
  type ClientErrorCode,
  ConnectionError,
  ForbiddenError,
  InternalError,
  InvalidParamsError,
  NotFoundError,
  RateLimitedError,
  ReplyFailedError,
  SkeinError,
  TimeoutError,
  UnauthorizedError,
  UnexpectedResponseError,
} from './errors.ts';
export type { Fetch } from './exchange.ts';
export type { Reply, WaitOptions } from './reply.ts';
export { type ApiKeyOptions, type ApplicationOptions, Skein, type SkeinOptions } from './skein.ts';
export type { ListOptions, ThreadList } from './thread-list.ts';
export type { AskOptions, CreateOptions, GetOptions, ThreadRead, Threads } from './threads.ts';
export type { CallOptions } from './transport.ts';
export type {
  CreatedThread,
  CreateThreadBody,
  DeletedThread,
  ErrorCode,
  MessageStatus,
  Source,
  Step,
  Thread,
  ThreadMessage,
  ThreadPage,
  ThreadStatus,
  ThreadWithMessages,
} from './types.ts';
