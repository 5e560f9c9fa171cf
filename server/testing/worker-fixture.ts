import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'node:test';
import { scriptedModel } from '../../answers/src/index.ts';
import { Signals } from '../../runtime/src/pure/signals.ts';
import { machineTimers } from '../../runtime/src/timers.ts';
import { until } from '../../runtime/testing/until.ts';
import { createIdGenerator, type OrganizationId, type ThreadId } from '../src/domain/id.ts';
import { defaultLimits } from '../src/domain/limits.ts';
import type { AssistantMessage } from '../src/domain/message.ts';
import { noTelemetry, noTracing, type Telemetry } from '../src/domain/telemetry.ts';
import {
  type Model,
  type ReplyEvent,
  type ReplyRequest,
  ReplySignals,
  ReplyWorker,
  reportEnded,
  type WorkerSettings,
} from '../src/replies/index.ts';
import type { NewThread, ReplyName, Store } from '../src/storage/port/store.ts';
import { openSqliteStore } from '../src/storage/sqlite/open.ts';
import { createReplyChanges } from '../src/usecases/threads/change-replies.ts';
import { createThreadChanges } from '../src/usecases/threads/change-thread.ts';
import { createFollowedThreads } from '../src/usecases/threads/followed-threads.ts';
import { createThreadReads } from '../src/usecases/threads/get-thread.ts';
import { authorizeWrites } from './authorize-writes.ts';
import { createPrincipal, World } from './contract/fixture.ts';

// The fixture of the worker's tests. `useWorkers` creates it for each test.
export let world: World;
export let needs: ReturnType<typeof createNeeds>;
/** The messages of the log. */
export let logged: string[];
let folder: string;
let workers: ReplyWorker[];

const keep = (_: object, text: string) => logged.push(text);
const log = { info: keep, warn: keep, error: keep };
const usual = { concurrency: 4, leaseMs: 60_000, attemptsMax: 3 };

/** Call it in the suite. Fails a test that leaves something watched. */
export function useWorkers(): void {
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'skein-worker-'));
    world = await World.open((clock) => openSqliteStore(join(folder, 'x.db'), clock));
    needs = createNeeds(world);
    workers = [];
    logged = [];
  });
  afterEach(async () => {
    for (const worker of workers) await worker.stop();
    assert.deepEqual(needs.replySignals.watched(), [], 'nothing is watched any more');
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });
}

/** What a worker and the sweep need. */
function createNeeds({ store, clock }: World) {
  return {
    store: store as Store,
    ids: createIdGenerator(Date.now, randomBytes),
    now: clock.wall,
    timers: machineTimers,
    replySignals: new ReplySignals(),
    threadSignals: new Signals<ThreadId>(),
    telemetry: noTelemetry as Telemetry,
    tracing: noTracing,
    log,
  };
}

/** The use cases with which a person ends a reply. */
export function openUseCases() {
  const { store, ids, timers, replySignals, threadSignals, telemetry } = needs;
  const watchReply = replySignals.watch.bind(replySignals);
  const repliesCancelled = (replies: readonly ReplyName[]) =>
    reportEnded({ replySignals, telemetry }, 'cancelled', replies);
  const followedThreads = createFollowedThreads({ store, watchReply, threadSignals, timers });
  const reads = createThreadReads({ store, followedThreads });
  const authorize = authorizeWrites(store);
  const changes = { store, ids, reads, threadSignals, repliesCancelled, authorize };
  return {
    threads: createThreadChanges(changes),
    replies: createReplyChanges({ ...changes, limits: defaultLimits, replySignals }),
  };
}

/** Replaces what workers need that are started from now on. */
export function changeNeeds(change: Partial<typeof needs>): void {
  needs = { ...needs, ...change };
}

export async function start(
  model: Model = scriptedModel,
  settings: Partial<WorkerSettings> = {},
  suspects = model,
): Promise<ReplyWorker> {
  const models = { usual: model, suspects };
  const worker = await ReplyWorker.start(needs, models, { ...usual, ...settings });
  workers.push(worker);
  return worker;
}

export async function ask(prompt: string, change: Partial<NewThread> = {}, known?: OrganizationId) {
  const organization = known ?? (await world.organization());
  const thread = await world.thread(organization, await world.member(organization), { prompt, ...change });
  const reply = async () =>
    (await world.store.getThread(organization, thread.id))?.messages[1] as AssistantMessage;
  const principal = createPrincipal(organization, thread.userId);
  return { organization, thread, reply, principal };
}

/** A model that records when it was started and aborted, and otherwise does what `then` does. */
export function watched(then: (request: ReplyRequest) => AsyncIterable<ReplyEvent>) {
  const seen = { begun: 0, aborted: 0 };
  const model: Model = {
    name: 'watched',
    async *reply(request) {
      seen.begun += 1;
      request.signal.addEventListener('abort', () => {
        seen.aborted += 1;
      });
      yield* then(request);
    },
  };
  return { seen, model };
}

/** The reply is logged before it is released. */
export const untilReleased = () =>
  until(
    () => world.store.replyBacklog(),
    ({ held }) => held === 0,
  );
export const ended = ({ completedAt }: AssistantMessage) => completedAt !== null;
