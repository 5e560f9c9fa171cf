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
  readonly getGroup: (call: Call) => string;
  readonly waitedTooLong: (error: unknown) => boolean;
}

export interface BatcherSettings<Call> {
  /** How many batches of a lane may run at once. The calls that arrive meanwhile share the next one. */
  readonly batchesMax: number;
  /** Calls per batch. The limit bounds how long a call waits for the others in its batch. */
  readonly callsMax: number;
  /** Calls in different lanes never share a batch and never wait for each other. By default, there is one lane. */
  readonly getLane?: (call: Call) => string;
  readonly isolation?: Isolation<Call> | undefined;
  /** Calls with the same key never share a batch, because one statement cannot change the same row twice. */
  readonly getKey?: ((call: Call) => string | undefined) | undefined;
  /**
   * Whether a batch that failed has changed nothing and may have failed because of one of its calls. Its calls are then
   * sent again in smaller batches, so that only the faulty call fails.
   */
  readonly isCallSpecific: (error: unknown) => boolean;
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
 * Returns a function that sends calls in batches. A lone call is sent at the end of its turn of the event loop. While
 * `batchesMax` batches are running, calls wait and share the next batch, so that batches grow with the load. Calls are sent
 * in the order of their arrival, and each gets its own outcome. If the answer to a batch is lost, only the calls of that
 * batch fail.
 */
export function createBatcher<Call, Outcome>(
  send: SendBatch<Call, Outcome>,
  settings: BatcherSettings<Call>,
): (call: Call) => Promise<Outcome> {
  type Pending = PendingCall<Call, Outcome>;
  const { batchesMax, callsMax, getKey, isolation, isCallSpecific } = settings;
  const { getLane = () => '', defer = setImmediate } = settings;
  const lanes = new Map<string, Lane<Call, Outcome>>();

  const isolatedName = (shared: string, call: Call) => JSON.stringify([shared, isolation?.getGroup(call)]);

  function openLane(name: string, isIsolated: boolean): Lane<Call, Outcome> {
    const open = lanes.get(name);
    if (open !== undefined) return open;
    const max = isIsolated ? 1 : batchesMax;
    const lane = { name, isIsolated, batchesMax: max, waiting: [], running: 0, isDeferred: false };
    lanes.set(name, lane);
    return lane;
  }

  function add(lane: Lane<Call, Outcome>, pending: Pending): void {
    lane.waiting.push(pending);
    if (lane.isDeferred || lane.running >= lane.batchesMax) return;
    lane.isDeferred = true;
    defer(() => {
      lane.isDeferred = false;
      sendNext(lane);
    });
  }

  function sendNext(lane: Lane<Call, Outcome>): void {
    while (lane.running < lane.batchesMax && lane.waiting.length > 0) {
      lane.running += 1;
      void serve(lane, takeBatch(lane)).then(() => {
        lane.running -= 1;
        sendNext(lane);
      });
    }
    if (lane.running === 0 && !lane.isDeferred) lanes.delete(lane.name);
  }

  function takeBatch({ waiting }: Lane<Call, Outcome>): Pending[] {
    const candidates = waiting.splice(0, callsMax);
    if (getKey === undefined) return candidates;
    const keys = new Set<string | undefined>();
    const [batch, left]: [Pending[], Pending[]] = [[], []];
    for (const pendingCall of candidates) {
      const key = getKey(pendingCall.call);
      (keys.has(key) ? left : batch).push(pendingCall);
      if (key !== undefined) keys.add(key);
    }
    waiting.unshift(...left);
    return batch;
  }

  /** Settles every call or passes it to another lane. Never rejects. */
  async function serve(lane: Lane<Call, Outcome>, pending: readonly Pending[]): Promise<void> {
    try {
      const calls = pending.map(({ call }) => call);
      const outcomes = await send(calls, lane.isIsolated);
      pending.forEach(({ resolve }, place) => {
        resolve(outcomes[place]!);
      });
    } catch (error) {
      const waitedTooLong = isolation?.waitedTooLong(error) === true;
      if (waitedTooLong && !lane.isIsolated) {
        for (const each of pending) add(openLane(isolatedName(lane.name, each.call), true), each);
        return;
      }
      if (pending.length === 1 || waitedTooLong || !isCallSpecific(error)) {
        for (const { reject } of pending) reject(error);
        return;
      }
      const half = Math.ceil(pending.length / 2);
      await serve(lane, pending.slice(0, half));
      await serve(lane, pending.slice(half));
    }
  }

  return (call) => {
    const shared = getLane(call);
    const isolated = isolation && lanes.get(isolatedName(shared, call));
    const pending = { call, ...Promise.withResolvers<Outcome>() };
    add(isolated ?? openLane(shared, false), pending);
    return pending.promise;
  };
}
