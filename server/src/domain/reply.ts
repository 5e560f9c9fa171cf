import type { MessageStatus } from './message.ts';

export type RunningStatus = Extract<MessageStatus, 'in_progress' | 'corroborating'>;
export type TerminalStatus = Exclude<MessageStatus, RunningStatus>;

/** Terminal states absorb: nothing leads out of them. */
export const replyTransitions = {
  in_progress: ['corroborating', 'completed', 'failed', 'cancelled'],
  corroborating: ['completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<MessageStatus, readonly MessageStatus[]>;

export function isTerminal(status: MessageStatus): status is TerminalStatus {
  return replyTransitions[status].length === 0;
}

/** What a caller reads in a failed reply. The reason goes to the log, by trace id. */
export const failedReplyContent = 'The reply could not be generated. Please try again.';
