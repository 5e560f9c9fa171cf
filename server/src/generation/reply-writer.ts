import type { Source, Step, Verdict } from '../domain/message.ts';
import { failedReplyContent, type RunningStatus } from '../domain/reply.ts';
import type { AuditNote, ClaimedReply, Replies } from '../storage/store.ts';
import type { Timers } from '../usecases/timers.ts';
import type { ReplyEvent } from './model.ts';

type Result = Parameters<Replies['settleReply']>[1];

export interface ReplyWriterSettings {
  /** The pause between two writes. */
  readonly everyMs: number;
  readonly now: () => number;
  readonly timers: Timers;
  /** Called after each write. */
  readonly kept: () => void;
  /** Called when another worker has the reply or it has ended: this one must stop writing. */
  readonly lost: () => void;
}

/** Writes one reply to the store while the model drafts it, at intervals. */
export class ReplyWriter {
  readonly #store: Replies;
  readonly #reply: ClaimedReply;
  readonly #settings: ReplyWriterSettings;
  #status: RunningStatus = 'in_progress';
  #content = '';
  #steps: Step[] = [];
  #sources: readonly Source[] | null = null;
  #verdict: Verdict | undefined;
  #unanswered = false;
  #cancelDue: (() => void) | undefined;
  #closed = false;

  constructor(store: Replies, reply: ClaimedReply, settings: ReplyWriterSettings) {
    this.#store = store;
    this.#reply = reply;
    this.#settings = settings;
  }

  take(event: ReplyEvent): void {
    switch (event.type) {
      case 'step':
        this.#steps.push({ description: event.description, at: this.#settings.now() });
        break;
      case 'text':
        this.#content += event.text;
        break;
      case 'corroborating':
        this.#status = 'corroborating';
        break;
      case 'revision':
        this.#content = event.text;
        break;
      case 'sources':
        this.#sources = event.sources;
        break;
      case 'verdict':
        this.#verdict = event.verdict;
        // A reply of which no statement was found in the documents does not answer from them.
        this.#unanswered ||= event.verdict.found === 0;
        break;
      case 'unanswered':
        this.#unanswered = true;
        break;
    }
    this.#cancelDue ??= this.#settings.timers.after(this.#settings.everyMs, () => void this.#keep());
  }

  /** Resolves to false if another worker had taken the reply or it had ended. */
  settle(model: string): Promise<boolean> {
    const written = {
      content: this.#content,
      sources: this.#sources,
      verdict: this.#verdict,
      unanswered: this.#unanswered,
    };
    return this.#end({ status: 'completed', ...written, model });
  }

  fail(model: string, failure: string, note: AuditNote): Promise<boolean> {
    return this.#end({ status: 'failed', content: failedReplyContent, sources: null, model, failure, note });
  }

  close(): void {
    this.#closed = true;
    this.#cancelDue?.();
  }

  #end(result: Omit<Result, 'steps'>): Promise<boolean> {
    this.close();
    return this.#store.settleReply(this.#reply, { ...result, steps: this.#steps });
  }

  async #keep(): Promise<void> {
    this.#cancelDue = undefined;
    const progress = { status: this.#status, content: this.#content, steps: this.#steps };
    // The next write makes up for one that fails.
    const held = await this.#store.recordReplyProgress(this.#reply, progress).catch(() => true);
    if (held) this.#settings.kept();
    else if (!this.#closed) this.#settings.lost();
  }
}
