import type { Signals } from '../../../runtime/src/pure/signals.ts';
import type { Timers } from '../../../runtime/src/timers.ts';
import type { OwnAuthority } from '../domain/authority.ts';
import type { ThreadId } from '../domain/id.ts';
import type { Source, Step, Verdict } from '../domain/message.ts';
import { failedReplyContent, type RunningStatus } from '../domain/reply.ts';
import type { AuditNote, ClaimedReply, Replies } from '../storage/port/store.ts';
import type { ReplyEvent } from './model.ts';

interface WriterNeeds {
  readonly store: Pick<Replies, 'recordReplyProgress' | 'settleReply'>;
  readonly now: () => number;
  readonly timers: Pick<Timers, 'after'>;
  readonly threadSignals: Pick<Signals<ThreadId>, 'changed'>;
}

export type ReplyWriter = ReturnType<typeof replyWriter>;

/** Stores a reply at intervals while the model drafts it. Calls `lost` if it has ended or another worker has it. */
export function replyWriter(
  { store, now, timers, threadSignals }: WriterNeeds,
  reply: ClaimedReply,
  model: string,
  everyMs: number,
  lost: () => void,
) {
  const steps: Step[] = [];
  const result: { sources: readonly Source[] | null; verdict?: Verdict; unanswered: boolean } = {
    sources: null,
    unanswered: false,
  };
  let status: RunningStatus = 'in_progress';
  let content = '';
  let cancelDue: (() => void) | undefined;
  let isClosed = false;

  async function keep(): Promise<void> {
    cancelDue = undefined;
    // The next write makes up for one that fails.
    const held = await store.recordReplyProgress(reply, { status, content, steps }).catch(() => true);
    if (held) threadSignals.changed(reply.threadId);
    else if (!isClosed) lost();
  }

  return {
    take(event: ReplyEvent): void {
      if (event.type === 'step') steps.push({ description: event.description, at: now() });
      else if (event.type === 'text') content += event.text;
      else if (event.type === 'revision') content = event.text;
      else if (event.type === 'corroborating') status = 'corroborating';
      else if (event.type === 'unanswered') result.unanswered = true;
      else if (event.type === 'sources') result.sources = event.sources;
      else {
        result.verdict = event.verdict;
        // If no statement was found in the documents, the reply does not answer from them.
        result.unanswered ||= event.verdict.found === 0;
      }
      cancelDue ??= timers.after(everyMs, () => void keep());
    },

    /** Stores no more progress. */
    close(): void {
      isClosed = true;
      cancelDue?.();
    },

    /** Resolves to false if another worker had taken the reply or it had ended. */
    complete: () => store.settleReply(reply, { status: 'completed', content, steps, ...result, model }),

    fail(failure: string, note: AuditNote<OwnAuthority>) {
      const failed = { status: 'failed', content: failedReplyContent, sources: null } as const;
      return store.settleReply(reply, { ...failed, steps, model, failure, note });
    },
  };
}
