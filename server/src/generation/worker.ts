import type { Source, Step } from '../domain/message.ts';
import { failedReplyContent, type RunningStatus } from '../domain/reply.ts';
import type { ClaimedReply, Store } from '../storage/store.ts';
import type { Model, ReplyEvent } from './model.ts';

export interface WorkerSettings {
  readonly concurrency: number;
  readonly leaseMs: number;
}

export interface WorkerLog {
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** The text so far is shown at most this often. */
const progressEveryMs = 200;

/**
 * Writes replies: claims them from the store, asks the model, keeps what comes. Nothing is held in the store while the
 * model thinks but the claim, and that runs out by itself should this process die.
 */
export class ReplyWorker {
  readonly #store: Store;
  readonly #model: Model;
  readonly #settings: WorkerSettings;
  readonly #log: WorkerLog;
  readonly #now: () => number;
  readonly #running = new Map<ClaimedReply, { done: Promise<void>; abort: AbortController }>();
  readonly #sweep: NodeJS.Timeout;
  #claiming: Promise<void> | undefined;
  #wokenAgain = false;
  #stopping = false;

  constructor(store: Store, model: Model, settings: WorkerSettings, log: WorkerLog, now: () => number) {
    this.#store = store;
    this.#model = model;
    this.#settings = settings;
    this.#log = log;
    this.#now = now;
    // Finds what a dead process left behind, once its leases have run out. It also keeps a process alive that only works.
    this.#sweep = setInterval(() => this.wake(), settings.leaseMs);
    this.wake();
  }

  /** Says that a reply may be waiting. */
  wake(): void {
    this.#wokenAgain = true;
    if (this.#claiming === undefined && !this.#stopping) {
      this.#claiming = this.#claim().finally(() => {
        this.#claiming = undefined;
        // Woken after the last look and before this line: nobody else would look again.
        if (this.#wokenAgain && this.#running.size < this.#settings.concurrency) this.wake();
      });
    }
  }

  /** Hands back what is not finished: another process, or the next start, begins it anew. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#sweep);
    await this.#claiming;
    const running = [...this.#running];
    for (const [, { abort }] of running) abort.abort(new Error('The worker is stopping.'));
    await Promise.all(running.map(([, { done }]) => done));
  }

  async #claim(): Promise<void> {
    while (this.#wokenAgain && !this.#stopping) {
      const free = this.#settings.concurrency - this.#running.size;
      if (free === 0) return;
      this.#wokenAgain = false;
      try {
        const claimed = await this.#store.claimReplies(free, this.#settings.leaseMs);
        if (claimed.length === free) this.#wokenAgain = true;
        for (const reply of claimed) this.#start(reply);
      } catch (error) {
        this.#log.error({ err: error }, 'replies could not be claimed; the next sweep tries again');
      }
    }
  }

  #start(reply: ClaimedReply): void {
    const abort = new AbortController();
    const done = this.#write(reply, abort)
      .catch((error: unknown) => {
        // No retry here: the lease runs out and the reply is claimed again.
        this.#log.error(
          { err: error, trace_id: reply.traceId, message: reply.messageId },
          'reply could not be kept',
        );
      })
      .finally(() => {
        const wasFull = this.#running.size === this.#settings.concurrency;
        this.#running.delete(reply);
        if (wasFull) this.wake();
      });
    this.#running.set(reply, { done, abort });
  }

  async #write(reply: ClaimedReply, abort: AbortController): Promise<void> {
    const draft = new Draft(this.#store, reply, this.#settings.leaseMs, abort);
    const deadline = setTimeout(
      () => abort.abort(new Error('The reply did not end by its deadline.')),
      Math.max(0, reply.deadlineAt - this.#now()),
    );
    try {
      for await (const event of this.#model.reply({ ...reply, signal: abort.signal })) {
        abort.signal.throwIfAborted();
        draft.take(event);
      }
      abort.signal.throwIfAborted();
      await draft.settle(this.#model.name);
    } catch (error) {
      if (draft.lost) return;
      if (this.#stopping) return await this.#store.releaseReply(reply);
      this.#log.warn({ err: error, trace_id: reply.traceId, message: reply.messageId }, 'reply failed');
      await draft.fail(this.#model.name, error);
    } finally {
      clearTimeout(deadline);
      draft.close();
    }
  }
}

/** One reply on its way into the store: what the model said so far, written now and then, and the lease kept alive. */
class Draft {
  readonly #store: Store;
  readonly #reply: ClaimedReply;
  readonly #leaseMs: number;
  readonly #abort: AbortController;
  readonly #heartbeat: NodeJS.Timeout;
  #status: RunningStatus = 'in_progress';
  #content = '';
  #steps: Step[] = [];
  #sources: readonly Source[] | null = null;
  #due: NodeJS.Timeout | undefined;
  /** Another worker has the reply, or it ended meanwhile: nothing more is ours to write. */
  lost = false;

  constructor(store: Store, reply: ClaimedReply, leaseMs: number, abort: AbortController) {
    this.#store = store;
    this.#reply = reply;
    this.#leaseMs = leaseMs;
    this.#abort = abort;
    this.#heartbeat = setInterval(() => void this.#keep(), leaseMs / 3);
  }

  take(event: ReplyEvent): void {
    switch (event.type) {
      case 'step':
        this.#steps.push({ description: event.description });
        break;
      case 'text':
        this.#content += event.text;
        break;
      case 'corroborating':
        this.#status = 'corroborating';
        break;
      case 'sources':
        this.#sources = event.sources;
        break;
    }
    this.#due ??= setTimeout(() => void this.#keep(), progressEveryMs);
  }

  async settle(model: string): Promise<void> {
    await this.#end({ status: 'completed', content: this.#content, sources: this.#sources, model });
  }

  async fail(model: string, reason: unknown): Promise<void> {
    const failure = reason instanceof Error ? reason.message : String(reason);
    await this.#end({ status: 'failed', content: failedReplyContent, sources: null, model, failure });
  }

  close(): void {
    clearInterval(this.#heartbeat);
    clearTimeout(this.#due);
  }

  async #end(result: Omit<Parameters<Store['settleReply']>[1], 'steps'>): Promise<void> {
    this.close();
    await this.#store.settleReply(this.#reply, { ...result, steps: this.#steps });
  }

  async #keep(): Promise<void> {
    clearTimeout(this.#due);
    this.#due = undefined;
    const progress = {
      status: this.#status,
      content: this.#content,
      steps: this.#steps,
      leaseMs: this.#leaseMs,
    };
    // A write that fails is tried again by the next heartbeat; if none succeeds the lease runs out.
    const held = await this.#store.recordReplyProgress(this.#reply, progress).catch(() => true);
    if (held) return;
    this.lost = true;
    this.#abort.abort(new Error('The reply was cancelled or taken over.'));
  }
}
