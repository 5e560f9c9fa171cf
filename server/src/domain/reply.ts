import type { MessageStatus } from './message.ts';

export type RunningStatus = Extract<MessageStatus, 'in_progress' | 'corroborating'>;
export type TerminalStatus = Exclude<MessageStatus, RunningStatus>;

/** What a caller reads in a failed reply. The reason goes to the log, by trace id. */
export const failedReplyContent = 'The reply could not be generated. Please try again.';
