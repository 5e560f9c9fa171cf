import type { ReplyClaim, ReplyNotice } from '../../src/storage/port/store.ts';
import { type BatcherSettings, createBatcher, type SendBatch } from '../../src/storage/postgres/batcher.ts';
import type { EventLoop, SimulatedProcess } from './event-loop.ts';
import type { Link, Transactions } from './memory-store/open.ts';
import type { Random } from './random.ts';

/** The store did not respond. Whether the call took effect is unknown. */
export class StoreUnavailable extends Error {}

/** The database rejected this call, as it does when a constraint is violated, and changed nothing. */
class CallRejected extends StoreUnavailable {
  readonly call: Call;

  constructor(call: Call) {
    super(`${call.method} was rejected`);
    this.call = call;
  }
}

/** How badly the network and the database behave now. */
interface Weather {
  /** The database is down for everyone. */
  outage: boolean;
  /** Nodes that cannot reach the database. */
  readonly cutOff: Set<SimulatedProcess>;
  /** The share of calls that are lost before they arrive, and of responses that are lost after the commit. */
  lostShare: number;
  /** The share of batched calls that the database rejects. */
  rejectedShare: number;
  /** Multiplies the time that calls take. */
  slowness: number;
  noticesLost: number;
}

export function calm(): Weather {
  return { outage: false, cutOff: new Set(), lostShare: 0, rejectedShare: 0, slowness: 1, noticesLost: 0 };
}

/** Called in the moment of each commit. */
type Observer = (
  node: SimulatedProcess,
  method: keyof Transactions,
  args: readonly unknown[],
  result: unknown,
) => void;

interface Call {
  readonly method: keyof Transactions;
  readonly args: readonly unknown[];
  readonly run: () => unknown;
}

type CallResult = { readonly value: unknown } | { readonly error: unknown };

/** How the calls of a node are batched, with the real batcher. A test may change it to plant a bug. */
export interface Batching {
  readonly send: SendBatch<Call, CallResult>;
  readonly settings: BatcherSettings<Call>;
}

/** The methods that the PostgreSQL adapter batches, and the calls of each that may share a batch. */
const lanes: Partial<Record<keyof Transactions, (args: readonly unknown[]) => string>> = {
  admitKey: () => '',
  getThread: () => '',
  createThread: ([organizationId]) => String(organizationId),
  renameThread: ([organizationId]) => String(organizationId),
  deleteThread: ([organizationId]) => String(organizationId),
  beginWalk: () => '',
  recordReplyProgress: () => '',
  settleReply: () => '',
  releaseReply: () => '',
};

/** Calls that change the same row. */
const ofThread = ([, threadId]: readonly unknown[]) => String(threadId);
const ofReply = ([claim]: readonly unknown[]) => (claim as ReplyClaim).messageId;
const keys: typeof lanes = {
  renameThread: ofThread,
  deleteThread: ofThread,
  recordReplyProgress: ofReply,
  settleReply: ofReply,
  releaseReply: ofReply,
};

const settings: BatcherSettings<Call> = {
  // One batch at a time, so that calls often share one.
  batchesMax: 1,
  callsMax: 8,
  getLane: ({ method, args }) => `${method} ${lanes[method]!(args)}`,
  getKey: ({ method, args }) => keys[method]?.(args),
  isCallSpecific: (error) => error instanceof CallRejected,
  defer: queueMicrotask,
};

/** Connects the nodes to the database and to each other. */
export class Network {
  readonly weather = calm();
  readonly #loop: EventLoop;
  readonly #random: Random;
  readonly #observe: Observer;
  readonly #rejected = new WeakMap<Call, boolean>();
  readonly #listeners = new Map<SimulatedProcess, (notice: ReplyNotice) => void>();

  readonly #plant: (batching: Batching) => Batching;

  constructor(
    loop: EventLoop,
    random: Random,
    observe: Observer,
    plant: (batching: Batching) => Batching = (batching) => batching,
  ) {
    this.#loop = loop;
    this.#random = random;
    this.#observe = observe;
    this.#plant = plant;
  }

  link(node: SimulatedProcess): Link {
    const batching = this.#plant({ send: (calls) => this.#send(node, calls), settings });
    const sendBatched = createBatcher(batching.send, batching.settings);
    const send = async <T>(call: Call): Promise<T> => {
      const batched = lanes[call.method] !== undefined;
      const result = batched ? await sendBatched(call) : (await this.#send(node, [call]))[0]!;
      if ('error' in result) throw result.error;
      return result.value as T;
    };
    return {
      call: <T>(method: keyof Transactions, args: readonly unknown[], run: () => T) => {
        const call = { method, args, run };
        return send<T>(call).catch((error) => {
          const isNeighbors = error instanceof CallRejected && error.call !== call;
          throw isNeighbors ? new Error(`${method} got the error of another call`) : error;
        });
      },
      sendNotice: (notice) => send({ method: 'ping', args: [], run: () => this.#spread(node, notice) }),
      onNotice: (listener) => this.#listeners.set(node, listener),
    };
  }

  disconnect(node: SimulatedProcess): void {
    this.#listeners.delete(node);
  }

  /** One round trip for all calls. If the database rejects one of them, it changes nothing. */
  #send(node: SimulatedProcess, calls: readonly Call[]): Promise<CallResult[]> {
    const loop = this.#loop;
    const { method } = calls[0]!;
    return new Promise((resolve, reject) => {
      const fail = (ms: number) =>
        loop.after(ms, `${node.name} ${method} fails`, () => reject(new StoreUnavailable(method)), node);
      if (this.#isLost(node)) return void fail(this.#random.integer(1500, 1));
      // The calls have left the node: they arrive even if the node dies.
      loop.after(this.#latencyMs(), `${method} arrives`, () => {
        if (this.#isLost(node)) return void fail(this.#random.integer(1500, 1));
        const rejected = calls.find((call) => this.#isRejected(call));
        if (rejected !== undefined) {
          const answer = () => reject(new CallRejected(rejected));
          return void loop.after(this.#latencyMs(), `${node.name} ${method} is rejected`, answer, node);
        }
        const results = calls.map((call) => this.#run(node, call));
        const answer = () =>
          this.#isLost(node) ? reject(new StoreUnavailable(`${method}, after the commit`)) : resolve(results);
        loop.after(this.#latencyMs(), `${node.name} ${method} answers`, answer, node);
      });
    });
  }

  #run(node: SimulatedProcess, { method, args, run }: Call): CallResult {
    let value: unknown;
    try {
      value = run();
    } catch (error) {
      return { error };
    }
    this.#observe(node, method, args, value);
    return { value };
  }

  /** A call that is rejected once is always rejected. */
  #isRejected(call: Call): boolean {
    if (lanes[call.method] === undefined || this.weather.rejectedShare === 0) return false;
    let isRejected = this.#rejected.get(call);
    if (isRejected === undefined) {
      isRejected = this.#random.chance(this.weather.rejectedShare);
      this.#rejected.set(call, isRejected);
    }
    return isRejected;
  }

  #isLost(node: SimulatedProcess): boolean {
    const { outage, cutOff, lostShare } = this.weather;
    return outage || cutOff.has(node) || (lostShare > 0 && this.#random.chance(lostShare));
  }

  #latencyMs(): number {
    return (0.1 + this.#random.fraction() ** 3 * 5) * this.weather.slowness;
  }

  /** Each of the other nodes receives a notice after its own delay, or never. */
  #spread(sender: SimulatedProcess, notice: ReplyNotice): void {
    for (const [node] of this.#listeners) {
      if (node === sender || this.#random.chance(this.weather.noticesLost)) continue;
      const delayMs = this.#random.chance(0.05) ? this.#random.integer(5000) : this.#latencyMs();
      this.#loop.after(delayMs, 'notice', () => this.#listeners.get(node)?.(notice), node);
    }
  }
}
