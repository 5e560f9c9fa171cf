import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Signals } from '../../../runtime/src/pure/signals.ts';
import type { Timers } from '../../../runtime/src/timers.ts';
import type { Seal } from '../../src/domain/cursor.ts';
import { createIdGenerator, type ThreadId } from '../../src/domain/id.ts';
import { defaultLimits } from '../../src/domain/limits.ts';
import { noTelemetry, noTracing } from '../../src/domain/telemetry.ts';
import {
  keepTending,
  type Models,
  ReplySignals,
  ReplyWorker,
  relaySignals,
  reportEnded,
} from '../../src/replies/index.ts';
import type { ReplyName, Store } from '../../src/storage/port/store.ts';
import { createAuthorize } from '../../src/usecases/authorize.ts';
import { createKeys } from '../../src/usecases/credentials/api-keys.ts';
import { createAdmission } from '../../src/usecases/credentials/authenticate.ts';
import { createOrganizations } from '../../src/usecases/organization/organization.ts';
import { createMembers } from '../../src/usecases/people/members.ts';
import { createSessions } from '../../src/usecases/people/sessions.ts';
import { createReplyChanges } from '../../src/usecases/threads/change-replies.ts';
import { createThreadChanges } from '../../src/usecases/threads/change-thread.ts';
import { createThreadCreation } from '../../src/usecases/threads/create-thread.ts';
import { createThreadFollowing } from '../../src/usecases/threads/follow-thread.ts';
import { createFollowedThreads } from '../../src/usecases/threads/followed-threads.ts';
import { createThreadReads } from '../../src/usecases/threads/get-thread.ts';
import { createThreadLists } from '../../src/usecases/threads/list-threads.ts';
import { createReplyWaits } from '../../src/usecases/threads/wait-for-reply.ts';
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
  readonly store: Store;
  readonly timers: Timers;
  readonly now: () => number;
  readonly replySignals: ReplySignals;
  readonly useCases: ReturnType<typeof composeUseCases>;
  readonly #machine: ReturnType<typeof createMachine>;
  readonly #parts: NodeParts;
  /** Ends the requests that are held here, as http/wire/long-responses.ts does before a stop. */
  readonly held = new Set<AbortController>();
  isStopping = false;
  #stops: (() => Promise<void>)[] = [];

  constructor(parts: NodeParts) {
    this.process = parts.process;
    this.#parts = parts;
    this.store = parts.store;
    this.timers = parts.timers;
    this.now = parts.wall;
    this.#machine = createMachine(parts);
    this.replySignals = this.#machine.replySignals;
    this.useCases = composeUseCases(this.#machine);
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
    const needs = { ...this.#machine, log };
    const worker = role === 'all' ? await ReplyWorker.start(needs, models, settings) : undefined;
    const stopTending = keepTending(needs, leaseMs, worker);
    const stopRelaying = relaySignals(needs);
    this.#stops = [stopTending, async () => worker?.stop(), stopRelaying];
  }

  /** As on SIGTERM. */
  async stop(): Promise<void> {
    this.isStopping = true;
    for (const held of this.held) held.abort();
    for (const stop of this.#stops) await stop();
  }
}

export type NodeUseCases = SimulatedNode['useCases'];

/** The simulated machine, and what the parts of a node share. */
function createMachine({ store, timers, random, wall }: NodeParts) {
  return {
    store,
    timers,
    now: wall,
    randomBytes: random.bytes,
    ids: createIdGenerator(wall, random.bytes),
    limits: { ...defaultLimits, replyAttempts, replyDeadlineMs },
    replySignals: new ReplySignals(),
    threadSignals: new Signals<ThreadId>(),
    telemetry: noTelemetry,
    tracing: noTracing,
  };
}

/** The modules that the simulation calls, each with what it needs, as compose-use-cases.ts does it. */
function composeUseCases(machine: ReturnType<typeof createMachine>) {
  const { store, timers, now, randomBytes, ids, limits, replySignals, threadSignals, telemetry } = machine;
  const sha256 = (text: string) => hash('sha256', text);
  const secrets = { randomBytes, crc32, sha256 };
  const accessTokens = { read: async () => undefined };
  const admission = createAdmission({ store, crc32, sha256, accessTokens, now });
  const sessions = createSessions({ store, ids, randomBytes, sha256, limits });
  const authorize = createAuthorize({
    recheckKey: admission.recheckKey,
    recheckSession: sessions.recheck,
  });
  const watchReply = replySignals.watch.bind(replySignals);
  const repliesCancelled = (replies: readonly ReplyName[]) =>
    reportEnded({ replySignals, telemetry }, 'cancelled', replies);
  const followedThreads = createFollowedThreads({ store, watchReply, threadSignals, timers });
  const reads = createThreadReads({ store, followedThreads });
  const changes = { store, ids, reads, threadSignals, repliesCancelled, authorize };
  const members = createMembers({
    store,
    ids,
    now,
    limits,
    sendsMail: false,
    hasProvider: false,
    sessions,
    authorize,
    limitMails: async () => {},
    issueInvitation: () => Promise.reject(new Error('Nobody is invited in the simulation.')),
  });
  return {
    admission,
    members,
    keys: createKeys({ store, ids, now, secrets, limits, members, authorize }),
    organizations: createOrganizations({ store, ids, limits, authorize }),
    threads: {
      ...reads,
      ...createThreadLists({ store, seal: plainSeal, limits }),
      ...createThreadCreation({ store, ids, sha256, limits, replySignals, authorize }),
      ...createThreadChanges(changes),
      ...createThreadFollowing({ store, reads, followedThreads, timers }),
    },
    replies: {
      ...createReplyChanges({ ...changes, limits, replySignals }),
      ...createReplyWaits({ store, watchReply, telemetry }),
    },
  };
}

/** Plain cursors: their encryption is not part of the simulation. */
const plainSeal: Seal = {
  seal: (listing, plaintext) => JSON.stringify([listing, plaintext]),
  open(listing, sealed) {
    const [name, plaintext] = JSON.parse(sealed);
    return name === listing ? plaintext : undefined;
  },
};
