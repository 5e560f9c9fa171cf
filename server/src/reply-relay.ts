import type { ReplyName, ReplyNotice, Store } from './storage/store.ts';
import type { ReplySignals } from './usecases/replies/reply-signals.ts';
import type { Timers } from './usecases/timers.ts';

/** Batches notices, so that a node under load sends fifty a second, not thousands. */
const gatherMs = 20;

/** Passes the signals of this process to the other nodes, and theirs to this one. Returns a function that stops it. */
export function relayReplies(
  store: Pick<Store, 'sendNotice' | 'onNotice'>,
  signals: ReplySignals,
  timers: Timers,
): () => Promise<void> {
  let ended: ReplyName[] = [];
  let waiting = false;
  let cancelDue: (() => void) | undefined;
  let telling: Promise<void> = Promise.resolve();

  function tellNow(): void {
    const notice: ReplyNotice = { waiting, ended };
    ended = [];
    waiting = false;
    cancelDue = undefined;
    // The next poll makes up for a lost notice.
    telling = store.sendNotice(notice).catch(() => {});
  }

  signals.onNotice((notice) => {
    waiting ||= notice.waiting;
    ended.push(...notice.ended);
    cancelDue ??= timers.after(gatherMs, tellNow);
  });
  store.onNotice((notice) => signals.hear(notice));

  return async () => {
    signals.onNotice(() => {});
    if (cancelDue !== undefined) {
      cancelDue();
      tellNow();
    }
    await telling;
  };
}
