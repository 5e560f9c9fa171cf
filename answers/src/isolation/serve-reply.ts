import type { PassageStore } from '../port/documents.ts';
import { type Model, ModelError, type ReplyEvent, type ReplyRequest } from '../port/model.ts';
import type { Call } from '../threads/model-thread.ts';
import { watchLimits } from './watch-limits.ts';

/** One reply to write. */
export interface ReplyTask<Settings> {
  readonly settings: Settings;
  readonly request: Omit<ReplyRequest, 'signal'>;
  readonly traceHeaders: Record<string, string>;
}

export type ToReply<Settings> = ReplyTask<Settings> | { readonly id: number; readonly answer: unknown };

export type FromReply =
  | { readonly event: ReplyEvent }
  /** A read that is answered under the same id. */
  | { readonly read: Call<PassageStore>; readonly id: number }
  /** A `ModelError`. */
  | { readonly failure: string; readonly kind: ConstructorParameters<typeof ModelError>[1] }
  | { readonly error: string }
  | { readonly done: true };

/** Opens the model of a task. `store` asks the service. */
type OpenModel<Settings> = (
  settings: Settings,
  store: PassageStore,
  traceHeaders: () => Record<string, string>,
) => Promise<Model>;

/** The work of a process of isolated-model.ts: writes one reply, and is then killed. */
export function serveReply<Settings>(openModel: OpenModel<Settings>): void {
  // A service manager stops every process of the service, and a terminal that closes, too. The service releases the reply
  // and then kills this process: if it ended first, that would count against the reply.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});
  const reads: ((answer: never) => void)[] = [];
  const reading =
    (method: keyof PassageStore) =>
    (...args: readonly unknown[]) =>
      new Promise<never>((resolve) => tell({ read: { method, args }, id: reads.push(resolve) - 1 }));
  const store: PassageStore = {
    findPassages: reading('findPassages'),
    readPassages: reading('readPassages'),
    outlineDocuments: reading('outlineDocuments'),
  };

  async function write({ settings, request, traceHeaders }: ReplyTask<Settings>): Promise<void> {
    const model = await openModel(settings, store, () => traceHeaders);
    // Never aborts: the process is killed instead.
    const { signal } = new AbortController();
    for await (const event of model.reply({ ...request, signal })) tell({ event });
    tell({ done: true });
  }

  process.on('disconnect', () => process.exit());
  process.on('message', (message: ToReply<Settings>) => {
    if ('answer' in message) reads[message.id]?.(message.answer as never);
    else write(message).catch((error) => tell(toFailure(error)));
  });
  watchLimits();
}

function tell(message: FromReply): void {
  process.send?.(message);
}

function toFailure(error: unknown): FromReply {
  if (error instanceof ModelError) {
    const { message: failure, transient, retryAfterMs } = error;
    return { failure, kind: { transient, retryAfterMs } };
  }
  return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
