import { setTimeout as pause } from 'node:timers/promises';
import type { Skein } from '../compose.ts';
import type { Log } from '../log.ts';
import type { Retention } from '../usecases/organization/retention.ts';
import type { StoreHealth } from '../usecases/store-health.ts';

type StartedWorker = Awaited<ReturnType<Skein['startWorker']>>;
type Work = (signal: AbortSignal) => Promise<void>;

/** Below this, a burst of renames explains the difference. */
const clockAheadMsMax = 5_000;
/** A killed process loses the request counts and log entries of at most this long. */
const usageEveryMs = 1000;
/** Expired data is removed within about this time, and a document whose writer was killed after about twice as long. */
const sweepEveryMs = 60_000;
/** A changed thread is found by its new words within about this time, and later while the service is busy. */
const indexEveryMs = 300;
/** Indexing takes at most a tenth of the processor time of the event loop. Waiting for the database does not count. */
const restPerWork = 9;
/** The longest pause: on a busy node, most of the work is not removal's own. */
const removalRestMsMax = 50;
/** A new document has its example questions after about this long. */
const questionsEveryMs = 3_000;
/** An invitation is sent after about this long. */
const mailEveryMs = 1_000;
const clockEveryMs = 5_000;
const removedPerSecondMax = 10_000;

/**
 * The work of every process apart from requests and replies. Returns a function that stops it: it finishes the rounds in
 * progress and stores the remaining request counts.
 */
export function startBackgroundWork(
  { useCases, health, flushRecords, keepTending }: Skein,
  started: StartedWorker | undefined,
  leaseMs: number,
  log: Log,
): { stopTending(): Promise<void>; stop(): Promise<void> } {
  const { documents, exampleQuestions, retention, indexThreads } = useCases;
  const { noteFailedSignIns, passwordLinks, sendMails } = useCases;
  const keepCounts = async (isLast: boolean) => {
    // If one of them fails, the other is still stored.
    const results = await Promise.allSettled([flushRecords(), noteFailedSignIns(isLast)]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  };
  const start = (ms: number, failure: string, work: Work) => repeat(log, ms, failure, work);
  const countsFailed = 'failed to store request counts, retrying';
  const linksFailed = 'failed to create password links';
  const jobs = [
    start(usageEveryMs, countsFailed, () => keepCounts(false)),
    start(sweepEveryMs, 'failed to remove unfinished documents', async () => {
      const passages = await documents.sweep();
      if (passages > 0) log.info({ passages }, 'removed unfinished documents');
    }),
    start(sweepEveryMs, 'retention pass failed, retrying', (signal) => removeExpired(retention, log, signal)),
    start(indexEveryMs, 'failed to index threads, retrying', (signal) => {
      const rest = restsUntil(signal, (workedMs) => restPerWork * workedMs);
      return indexThreads(rest, signal);
    }),
    start(clockEveryMs, 'failed to read store clock', clockWatch(health, log)),
  ];
  if (passwordLinks) jobs.push(start(mailEveryMs, linksFailed, () => passwordLinks.sendRequested(log)));
  if (sendMails) {
    const failure = 'failed to read queued emails';
    jobs.push(start(mailEveryMs, failure, (signal) => sendMails(log, signal)));
  }
  const suggest = started?.suggestQuestions;
  const stopAsking =
    suggest &&
    start(questionsEveryMs, 'failed to create example questions', (signal) =>
      exampleQuestions.make(suggest, signal),
    );
  const stopTending = keepTending(log, leaseMs, started?.worker);
  return {
    async stopTending() {
      // Its questions are tried by the worker's model.
      await Promise.all([stopAsking?.(), stopTending()]);
    },
    async stop() {
      await Promise.all(jobs.map((stop) => stop()));
      await passwordLinks?.sendRequested(log).catch((error) => log.error({ err: error }, linksFailed));
      await keepCounts(true).catch((error) => log.error({ err: error }, countsFailed));
    },
  };
}

/**
 * Runs `work` now and then every `ms`, one round at a time. Logs a failure once per outage. Returns a function that stops
 * it and waits for the round in progress.
 */
function repeat(log: Log, ms: number, failure: string, work: Work): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const run = async () => {
    let failing = false;
    while (!signal.aborted) {
      try {
        await work(signal);
        failing = false;
      } catch (error) {
        if (!failing) log.error({ err: error }, failure);
        failing = true;
      }
      await pause(ms, undefined, { signal }).catch(() => {});
    }
  };
  const running = run();
  return () => {
    stopping.abort();
    return running;
  };
}

/** Returns a function that pauses after a batch, so that requests are not delayed. */
function restsUntil(signal: AbortSignal, restMs: typeof removalRestMs): (rows?: number) => Promise<void> {
  let before = process.threadCpuUsage();
  return async (rows = 0) => {
    const { user, system } = process.threadCpuUsage(before);
    await pause(restMs((user + system) / 1000, rows), undefined, { signal }).catch(() => {});
    before = process.threadCpuUsage();
  };
}

/** A few long rows can take all of the time that a batch may take. */
export function removalRestMs(workedMs: number, rows: number): number {
  return Math.max(Math.min(restPerWork * workedMs, removalRestMsMax), (rows / removedPerSecondMax) * 1000);
}

async function removeExpired(retention: Retention, log: Log, signal: AbortSignal): Promise<void> {
  const removed: Record<string, number> = {};
  const rest = restsUntil(signal, removalRestMs);
  await retention.enforce(async (kind, batch) => {
    if (batch.removed > 0) removed[kind] = (removed[kind] ?? 0) + batch.removed;
    await rest(batch.rows);
    return !signal.aborted;
  });
  if (Object.keys(removed).length > 0) log.info({ removed }, 'removed expired data');
}

/** Warns once each time the store's clock gets ahead of the machine's. */
function clockWatch(health: StoreHealth, log: Log): () => Promise<void> {
  let isAhead = false;
  return async () => {
    const aheadMs = await health.clockAheadMs();
    if (aheadMs > clockAheadMsMax && !isAhead) {
      const advice = 'store time runs at half speed until both agree; check NTP';
      log.warn({ ahead_ms: aheadMs }, `store clock is ahead of machine clock: ${advice}`);
    }
    isAhead = aheadMs > clockAheadMsMax;
  };
}
