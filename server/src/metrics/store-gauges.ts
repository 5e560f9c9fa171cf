import { setTimeout as pause } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import type { ReplyBacklog } from '../storage/store.ts';
import type { StoreHealth } from '../usecases/surface-context.ts';

type WatchedStore = Omit<StoreHealth, 'diagnose'>;

/** A store that takes longer counts as unavailable: scrapers usually give up after ten seconds. */
const answerWithinMs = 2_000;

/** Gauges that are read from the store at each scrape. An unavailable store is reported and breaks nothing. */
export class StoreGauges {
  readonly #store: WatchedStore;
  readonly #withinMs: number;
  readonly #up: Gauge;
  readonly #running: Gauge<'state'>;
  readonly #oldest: Gauge;
  readonly #connections: Gauge<'state'> | undefined;
  readonly #connectionsWaitedFor: Gauge | undefined;
  readonly #clockAhead: Gauge;
  #asking: Promise<[ReplyBacklog, number]> | undefined;

  constructor(registry: Registry, store: WatchedStore, withinMs: number = answerWithinMs) {
    const gauge = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
      new Gauge<Label>({ name, help, labelNames, registers: [registry] });
    this.#store = store;
    this.#withinMs = withinMs;
    this.#up = gauge('skein_store_up', 'Whether the store answered just now and takes writes: 1, or 0.');
    this.#running = gauge(
      'skein_replies_running',
      'Replies in progress in the whole store; 10000 is that many or more.',
      ['state'],
    );
    this.#oldest = gauge(
      'skein_replies_oldest_waiting_seconds',
      'How long ago the oldest reply that no worker has was asked for; 0 where none waits.',
    );
    this.#clockAhead = gauge(
      'skein_store_clock_ahead_seconds',
      "How far the store's clock is ahead of the machine's, or of the database server's.",
    );
    if (store.connections() === undefined) return;
    this.#connections = gauge(
      'skein_database_connections',
      'Open connections of this process to the database.',
      ['state'],
    );
    this.#connectionsWaitedFor = gauge(
      'skein_database_connection_waiters',
      'Callers in this process that wait for a connection.',
    );
  }

  async refresh(): Promise<void> {
    this.#showConnections();
    // Shared, so that scrapes do not pile up while the store is unavailable.
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    this.#show(await withinMs(this.#asking, this.#withinMs));
  }

  /** Rejects as readiness does, even if the backlog can still be read. */
  async #ask(): Promise<[ReplyBacklog, number]> {
    const store = this.#store;
    const [backlog, aheadMs] = await Promise.all([store.replyBacklog(), store.clockAheadMs(), store.ping()]);
    return [backlog, aheadMs];
  }

  #show(found: [ReplyBacklog, number] | undefined): void {
    this.#up.set(found === undefined ? 0 : 1);
    // NaN instead of the last known value, which would be misleading.
    const [backlog, aheadMs] = found ?? [{ waiting: NaN, held: NaN, oldestWaitingMs: NaN }, NaN];
    const { waiting, held, oldestWaitingMs } = backlog;
    this.#clockAhead.set(aheadMs / 1000);
    this.#running.set({ state: 'waiting' }, waiting);
    this.#running.set({ state: 'held' }, held);
    this.#oldest.set((oldestWaitingMs ?? 0) / 1000);
  }

  #showConnections(): void {
    const use = this.#store.connections();
    if (use === undefined) return;
    this.#connections?.set({ state: 'used' }, use.total - use.idle);
    this.#connections?.set({ state: 'idle' }, use.idle);
    this.#connectionsWaitedFor?.set(use.waiting);
  }
}

/** Undefined if it fails or times out. */
async function withinMs<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const enough = new AbortController();
  const tooLong = pause(ms, undefined, { signal: enough.signal });
  try {
    return await Promise.race([promise, tooLong]);
  } catch {
    return undefined;
  } finally {
    enough.abort();
    tooLong.catch(() => {});
  }
}
