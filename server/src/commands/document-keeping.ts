import type { createLog } from '../compose.ts';
import type { Context } from '../usecases/context.ts';

/** A document whose writer died is removed about two minutes later. */
const sweepEveryMs = 60_000;

/** Removes what writers of documents left behind that died: now, and every minute. Answers how to stop. */
export function keepDocuments({ store }: Context, log: ReturnType<typeof createLog>): () => Promise<void> {
  let running: Promise<void> | undefined;
  const sweep = () => {
    running ??= store
      .sweepDocuments()
      .then(
        (passages) => {
          if (passages > 0) log.info({ passages }, 'removed documents that were left unfinished');
        },
        (error: unknown) => log.warn({ err: error }, 'unfinished documents could not be removed'),
      )
      .finally(() => {
        running = undefined;
      });
  };
  sweep();
  const timer = setInterval(sweep, sweepEveryMs);
  return async () => {
    clearInterval(timer);
    await running;
  };
}
