/** Serves all calls in one round trip. The outcomes are in the order of the calls. `isIsolated`: see `Isolation`. */
export type SendBatch<Call, Outcome> = (
  calls: readonly Call[],
  isIsolated: boolean,
) => Promise<readonly Outcome[]>;

/**
 * For statements that may wait for locks. A batch that waited too long, which changed nothing, is sent again in lanes of
 * its own: one per group, with one batch at a time. Later calls of a group join its lane as long as it has calls.
 */
interface Isolation<Call> {
  readonly groupOf: (call: Call) => string;
  readonly waitedTooLong: (error: unknown) => boolean;
}

export interface BatcherSettings<Call> {
  /** How many batches of a lane may run at once. The calls that arrive meanwhile share the next one. */
  readonly batchesMax: number;
  /** Calls per batch. The limit bounds how long a call waits for the others in its batch. */
  readonly callsMax: number;
  /** Calls in different lanes never share a batch and never wait for each other. By default, there is one lane. */
  readonly laneOf?: (call: Call) => string;
  readonly isolation?: Isolation<Call> | undefined;
  /** Calls with the same key never share a batch, because one statement cannot change the same row twice. */
  readonly keyOf?: ((call: Call) => string | undefined) | undefined;
  /**
   * Whether a batch that failed has changed nothing and may have failed because of one of its calls. Its calls are then
   * sent again in smaller batches, so that only the faulty call fails.
   */
  readonly mayBeOneCallsFault: (error: unknown) => boolean;
  /** Calls `sendNext` once the calls that arrive at the same time have arrived. */
  readonly defer?: (sendNext: () => void) => void;
}

interface PendingCall<Call, Outcome> extends PromiseWithResolvers<Outcome> {
  readonly call: Call;
}

interface Lane<Call, Outcome> {
  readonly name: string;
  readonly isIsolated: boolean;
  readonly batchesMax: number;
  readonly waiting: PendingCall<Call, Outcome>[];
  running: number;
  isDeferred: boolean;
}

/**
 * A lone call is sent at the end of its turn of the event loop. While `batchesMax` batches are running, calls wait and share
 * the next batch, so that batches grow with the load. Calls are sent in the order of their arrival, and each gets its own
 * outcome. If the answer to a batch is lost, only the calls of that batch fail.
 */
export class Batcher<Call, Outcome> {
  readonly #send: SendBatch<Call, Outcome>;
  readonly #settings: BatcherSettings<Call>;
  readonly #lanes = new Map<string, Lane<Call, Outcome>>();

  constructor(send: SendBatch<Call, Outcome>, settings: BatcherSettings<Call>) {
    this.#send = send;
    this.#settings = settings;
  }

  call(call: Call): Promise<Outcome> {
    const { laneOf = () => '', isolation } = this.#settings;
    const shared = laneOf(call);
    const isolated = isolation && this.#lanes.get(this.#isolatedName(shared, call));
    const lane = isolated ?? this.#openLane(shared, false);
    const pending = { call, ...Promise.withResolvers<Outcome>() };
    this.#add(lane, pending);
    return pending.promise;
  }

  #isolatedName(shared: string, call: Call): string {
    return JSON.stringify([shared, this.#settings.isolation?.groupOf(call)]);
  }

  #openLane(name: string, isIsolated: boolean): Lane<Call, Outcome> {
    const open = this.#lanes.get(name);
    if (open !== undefined) return open;
    const batchesMax = isIsolated ? 1 : this.#settings.batchesMax;
    const lane = { name, isIsolated, batchesMax, waiting: [], running: 0, isDeferred: false };
    this.#lanes.set(name, lane);
    return lane;
  }

  #add(lane: Lane<Call, Outcome>, pending: PendingCall<Call, Outcome>): void {
    const { defer = setImmediate } = this.#settings;
    lane.waiting.push(pending);
    if (lane.isDeferred || lane.running >= lane.batchesMax) return;
    lane.isDeferred = true;
    defer(() => {
      lane.isDeferred = false;
      this.#sendNext(lane);
    });
  }

  #sendNext(lane: Lane<Call, Outcome>): void {
    while (lane.running < lane.batchesMax && lane.waiting.length > 0) {
      lane.running += 1;
      void this.#serve(lane, this.#takeBatch(lane)).then(() => {
        lane.running -= 1;
        this.#sendNext(lane);
      });
    }
    if (lane.running === 0 && !lane.isDeferred) this.#lanes.delete(lane.name);
  }

  #takeBatch({ waiting }: Lane<Call, Outcome>): PendingCall<Call, Outcome>[] {
    const { callsMax, keyOf } = this.#settings;
    const candidates = waiting.splice(0, callsMax);
    if (keyOf === undefined) return candidates;
    const keys = new Set<string | undefined>();
    const [batch, left]: [PendingCall<Call, Outcome>[], PendingCall<Call, Outcome>[]] = [[], []];
    for (const pendingCall of candidates) {
      const key = keyOf(pendingCall.call);
      (keys.has(key) ? left : batch).push(pendingCall);
      if (key !== undefined) keys.add(key);
    }
    waiting.unshift(...left);
    return batch;
  }

  /** Settles every call or passes it to another lane. Never rejects. */
  async #serve(lane: Lane<Call, Outcome>, pending: readonly PendingCall<Call, Outcome>[]): Promise<void> {
    const { isolation, mayBeOneCallsFault } = this.#settings;
    try {
      const outcomes = await this.#send(
        pending.map(({ call }) => call),
        lane.isIsolated,
      );
      pending.forEach(({ resolve }, place) => {
        resolve(outcomes[place]!);
      });
    } catch (error) {
      const waitedTooLong = isolation?.waitedTooLong(error) === true;
      if (waitedTooLong && !lane.isIsolated) {
        for (const each of pending)
          this.#add(this.#openLane(this.#isolatedName(lane.name, each.call), true), each);
        return;
      }
      if (pending.length === 1 || waitedTooLong || !mayBeOneCallsFault(error)) {
        for (const { reject } of pending) reject(error);
        return;
      }
      const half = Math.ceil(pending.length / 2);
      await this.#serve(lane, pending.slice(0, half));
      await this.#serve(lane, pending.slice(half));
    }
  }
}
