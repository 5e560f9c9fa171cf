import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Signals } from '../../../runtime/src/pure/signals.ts';
import type { Timers } from '../../../runtime/src/timers.ts';
import { createIdGenerator, type ThreadId } from '../../src/domain/id.ts';
import { defaultLimits } from '../../src/domain/limits.ts';
import { noTelemetry, noTracing } from '../../src/domain/telemetry.ts';
import {
  keepTending,
  type Models,
  ReplySignals,
  ReplyWorker,
  relaySignals,
} from '../../src/replies/index.ts';
import type { Store } from '../../src/storage/port/store.ts';
import type { Context } from '../../src/usecases/context.ts';
import { createFollowedThreads } from '../../src/usecases/threads/followed-threads.ts';
import type { SimulatedProcess } from './event-loop.ts';
import { StoreUnavailable } from './network.ts';
import type { Random } from './random.ts';

/** Short, so that leases and deadlines end often. */
export const leaseMs = 3000;
export const replyDeadlineMs = 20_000;
export const concurrency = 6;
export const replyAttempts = 3;

interface NodeParts {
  readonly process: SimulatedProcess;
  readonly role: 'all' | 'api';
  readonly store: Store;
  readonly timers: Timers;
  readonly random: Random;
  readonly models: Models;
  readonly wall: () => number;
  /** Reports an error that no fault explains. */
  readonly unexpected: (error: unknown) => void;
}

/** One `skein serve`: the real use cases, worker, tending, signals and relay. */
export class SimulatedNode {
  readonly process: SimulatedProcess;
  readonly context: Context;
  readonly #parts: NodeParts;
  /** Ends the requests that are held here, as http/long-responses.ts does before a stop. */
  readonly held = new Set<AbortController>();
  isStopping = false;
  #stops: (() => Promise<void>)[] = [];

  constructor(parts: NodeParts) {
    this.process = parts.process;
    this.context = contextOf(parts);
    this.#parts = parts;
  }

  async start(): Promise<void> {
    const { role, models, unexpected } = this.#parts;
    const error = (details: object) => {
      const { err } = details as { err?: unknown };
      // A reply that cannot be released in time, because the store is unavailable, expires.
      const isExpected = err instanceof StoreUnavailable || (err as Error).name === 'AbortError';
      if (!isExpected) unexpected(err);
    };
    const log = { info() {}, warn() {}, error };
    const settings = { concurrency, leaseMs, attemptsMax: replyAttempts };
    const needs = { ...this.context, log };
    const worker = role === 'all' ? await ReplyWorker.start(needs, models, settings) : undefined;
    const stopTending = keepTending(needs, leaseMs, worker);
    const stopRelaying = relaySignals(this.context);
    this.#stops = [stopTending, async () => worker?.stop(), stopRelaying];
  }

  /** As on SIGTERM. */
  async stop(): Promise<void> {
    this.isStopping = true;
    for (const held of this.held) held.abort();
    for (const stop of this.#stops) await stop();
  }
}

function contextOf({ store, timers, random, wall }: NodeParts): Context {
  const replySignals = new ReplySignals();
  const threadSignals = new Signals<ThreadId>();
  const used: Partial<Context> = {
    store,
    timers,
    replySignals,
    threadSignals,
    ids: createIdGenerator(wall, random.bytes),
    seal: plainSeal,
    now: wall,
    randomBytes: random.bytes,
    crc32,
    sha256: (text) => hash('sha256', text),
    limits: { ...defaultLimits, replyAttempts, replyDeadlineMs },
    followedThreads: createFollowedThreads({ store, replySignals, threadSignals, timers }),
    telemetry: noTelemetry,
    tracing: noTracing,
  };
  return used as Context;
}

/** Plain cursors: their encryption is not part of the simulation. */
const plainSeal: Context['seal'] = {
  seal: (listing, plaintext) => JSON.stringify([listing, plaintext]),
  open(listing, sealed) {
    const [name, plaintext] = JSON.parse(sealed);
    return name === listing ? plaintext : undefined;
  },
};
