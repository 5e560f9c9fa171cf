import type { Source, Step, Verdict } from '../domain/message.ts';
import { failedReplyContent, type RunningStatus } from '../domain/reply.ts';
import type { AuditNote, ClaimedReply, Replies } from '../storage/store.ts';
import type { Timers } from '../usecases/timers.ts';
import type { ReplyEvent } from './model.ts';

type Result = Parameters<Replies['settleReply']>[1];

export interface ReplyWriterSettings {
  readonly everyMs: number;
  readonly now: () => number;
  readonly timers: Timers;
  readonly kept: () => void;
  /** Called when another worker has the reply or it has ended: this one must stop writing. */
  readonly lost: () => void;
}

export type ReplyWriter = ReturnType<typeof replyWriter>;

/** Writes one reply to the store while the model drafts it, at intervals. */
export function replyWriter(store: Replies, reply: ClaimedReply, settings: ReplyWriterSettings) {
  const { everyMs, now, timers, kept, lost } = settings;
  let status: RunningStatus = 'in_progress';
  let content = '';
  const steps: Step[] = [];
  let sources: readonly Source[] | null = null;
  let verdict: Verdict | undefined;
  let unanswered = false;
  let cancelDue: (() => void) | undefined;
  let isClosed = false;

  function close(): void {
    isClosed = true;
    cancelDue?.();
  }

  function end(result: Omit<Result, 'steps'>): Promise<boolean> {
    close();
    return store.settleReply(reply, { ...result, steps });
  }

  async function keep(): Promise<void> {
    cancelDue = undefined;
    // The next write makes up for one that fails.
    const held = await store.recordReplyProgress(reply, { status, content, steps }).catch(() => true);
    if (held) kept();
    else if (!isClosed) lost();
  }

  return {
    take(event: ReplyEvent): void {
      switch (event.type) {
        case 'step':
          steps.push({ description: event.description, at: now() });
          break;
        case 'text':
          content += event.text;
          break;
        case 'corroborating':
          status = 'corroborating';
          break;
        case 'revision':
          content = event.text;
          break;
        case 'sources':
          sources = event.sources;
          break;
        case 'verdict':
          verdict = event.verdict;
          // If no statement was found in the documents, the reply does not answer from them.
          unanswered ||= verdict.found === 0;
          break;
        case 'unanswered':
          unanswered = true;
          break;
      }
      cancelDue ??= timers.after(everyMs, () => void keep());
    },

    /** Resolves to false if another worker had taken the reply or it had ended. */
    settle: (model: string) => end({ status: 'completed', content, sources, verdict, unanswered, model }),

    fail: (model: string, failure: string, note: AuditNote) =>
      end({ status: 'failed', content: failedReplyContent, sources: null, model, failure, note }),

    close,
  };
}
