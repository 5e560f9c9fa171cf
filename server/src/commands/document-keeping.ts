import type { createLog } from '../compose.ts';
import { removeUnfinishedDocuments } from '../usecases/documents/add-document.ts';
import type { SurfaceContext } from '../usecases/surface-context.ts';

/** A document whose writer was killed is removed about two minutes later. */
const sweepEveryMs = 60_000;

/** Removes what interrupted writers of documents left behind, now and every minute. Returns a function that stops it. */
export function keepDocuments(
  context: SurfaceContext,
  log: ReturnType<typeof createLog>,
): () => Promise<void> {
  let running: Promise<void> | undefined;
  const sweep = () => {
    running ??= removeUnfinishedDocuments(context)
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
