import type { Source, Step, Verdict } from '../domain/message.ts';
import { failedReplyContent, type RunningStatus } from '../domain/reply.ts';
import type { AuditNote, ClaimedReply, Replies } from '../storage/store.ts';
import type { ReplyEvent } from './model.ts';

type Result = Parameters<Replies['settleReply']>[1];

export interface DraftSettings {
  /** The pause between two writes. */
  readonly everyMs: number;
  readonly now: () => number;
  /** Called when what there is was written. */
  readonly kept: () => void;
  /** Called when another has the reply, or it ended meanwhile: nothing more is ours to write. */
  readonly lost: () => void;
}

/** One reply on its way into the store: what the model said so far, written now and then. */
export class Draft {
  readonly #store: Replies;
  readonly #reply: ClaimedReply;
  readonly #settings: DraftSettings;
  #status: RunningStatus = 'in_progress';
  #content = '';
  #steps: Step[] = [];
  #sources: readonly Source[] | null = null;
  #verdict: Verdict | undefined;
  #due: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(store: Replies, reply: ClaimedReply, settings: DraftSettings) {
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
        break;
    }
    this.#due ??= setTimeout(() => void this.#keep(), this.#settings.everyMs);
  }

  /** Whether the reply was still ours to end. */
  settle(model: string): Promise<boolean> {
    const written = { content: this.#content, sources: this.#sources, verdict: this.#verdict };
    return this.#end({ status: 'completed', ...written, model });
  }

  fail(model: string, failure: string, note: AuditNote): Promise<boolean> {
    return this.#end({ status: 'failed', content: failedReplyContent, sources: null, model, failure, note });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#due);
  }

  #end(result: Omit<Result, 'steps'>): Promise<boolean> {
    this.close();
    return this.#store.settleReply(this.#reply, { ...result, steps: this.#steps });
  }

  async #keep(): Promise<void> {
    this.#due = undefined;
    const progress = { status: this.#status, content: this.#content, steps: this.#steps };
    // A write that fails is made up for by the next.
    const held = await this.#store.recordReplyProgress(this.#reply, progress).catch(() => true);
    if (held) this.#settings.kept();
    else if (!this.#closed) this.#settings.lost();
  }
}
