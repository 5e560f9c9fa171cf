import type { ReplyName, ReplyNews, Store } from './storage/store.ts';
import type { ReplySignals } from './usecases/replies/reply-signals.ts';

/** What happens within this time is told together: a node under load sends fifty messages a second, not thousands. */
const gatherMs = 20;

/** Passes the signals of this process on to the other nodes, and theirs to this one. Answers how to stop. */
export function relayReplies(
  store: Pick<Store, 'tellNews' | 'hearNews'>,
  signals: ReplySignals,
): () => Promise<void> {
  let ended: ReplyName[] = [];
  let waiting = false;
  let due: NodeJS.Timeout | undefined;
  let telling: Promise<void> = Promise.resolve();

  function tellNow(): void {
    const news: ReplyNews = { waiting, ended };
    ended = [];
    waiting = false;
    due = undefined;
    // A hint that is lost is made up for by the next round of asking.
    telling = store.tellNews(news).catch(() => {});
  }

  signals.onNews((news) => {
    waiting ||= news.waiting;
    ended.push(...news.ended);
    due ??= setTimeout(tellNow, gatherMs);
  });
  store.hearNews((news) => signals.hear(news));

  return async () => {
    signals.onNews(() => {});
    if (due !== undefined) {
      clearTimeout(due);
      tellNow();
    }
    await telling;
  };
}
