import type { ReplyNotice } from '../../src/storage/store.ts';
import type { EventLoop, SimulatedProcess } from './event-loop.ts';
import type { Link, Transactions } from './memory-store/open.ts';
import type { Random } from './random.ts';

/** The store did not answer. Whether it did what it was asked is unknown. */
export class StoreUnavailable extends Error {}

/** How badly the network and the database behave now. */
export interface Weather {
  /** The database is down for everyone. */
  outage: boolean;
  /** Nodes that cannot reach the database. */
  readonly cutOff: Set<SimulatedProcess>;
  /** Of calls: the share that is lost on the way, and of answers: the share that is lost after the commit. */
  lostShare: number;
  /** Multiplies the time that calls take. */
  slowness: number;
  noticesLost: number;
}

export function calm(): Weather {
  return { outage: false, cutOff: new Set(), lostShare: 0, slowness: 1, noticesLost: 0 };
}

/** Called in the moment of each commit. */
export type Observer = (
  node: SimulatedProcess,
  method: keyof Transactions,
  args: readonly unknown[],
  result: unknown,
) => void;

/** Connects the nodes to the database and to each other. */
export class Network {
  readonly weather = calm();
  readonly #loop: EventLoop;
  readonly #random: Random;
  readonly #observe: Observer;
  readonly #listeners = new Map<SimulatedProcess, (notice: ReplyNotice) => void>();

  constructor(loop: EventLoop, random: Random, observe: Observer) {
    this.#loop = loop;
    this.#random = random;
    this.#observe = observe;
  }

  link(node: SimulatedProcess): Link {
    return {
      call: (method, args, run) => this.#call(node, method, args, run),
      sendNotice: (notice) => this.#call(node, 'ping', [], () => this.#spread(node, notice)),
      onNotice: (listener) => this.#listeners.set(node, listener),
    };
  }

  disconnect(node: SimulatedProcess): void {
    this.#listeners.delete(node);
  }

  #call<T>(
    node: SimulatedProcess,
    method: keyof Transactions,
    args: readonly unknown[],
    run: () => T,
  ): Promise<T> {
    const loop = this.#loop;
    return new Promise((resolve, reject) => {
      const fail = (ms: number) =>
        loop.after(ms, `${node.name} ${method} fails`, () => reject(new StoreUnavailable(method)), node);
      if (this.#isLost(node)) return void fail(this.#random.integer(1500, 1));
      // The call itself has left the node: it arrives even if the node dies.
      loop.after(this.#latencyMs(), `${method} arrives`, () => {
        if (this.#isLost(node)) return void fail(this.#random.integer(1500, 1));
        let result: T;
        try {
          result = run();
        } catch (error) {
          return void loop.after(this.#latencyMs(), `${method} throws`, () => reject(error), node);
        }
        this.#observe(node, method, args, result);
        const answer = () =>
          this.#isLost(node) ? reject(new StoreUnavailable(`${method}, after the commit`)) : resolve(result);
        loop.after(this.#latencyMs(), `${node.name} ${method} answers`, answer, node);
      });
    });
  }

  #isLost(node: SimulatedProcess): boolean {
    const { outage, cutOff, lostShare } = this.weather;
    return outage || cutOff.has(node) || (lostShare > 0 && this.#random.chance(lostShare));
  }

  #latencyMs(): number {
    return (0.1 + this.#random.fraction() ** 3 * 5) * this.weather.slowness;
  }

  /** Each other node hears a notice at its own time, or never. */
  #spread(sender: SimulatedProcess, notice: ReplyNotice): void {
    for (const [node] of this.#listeners) {
      if (node === sender || this.#random.chance(this.weather.noticesLost)) continue;
      const delayMs = this.#random.chance(0.05) ? this.#random.integer(5000) : this.#latencyMs();
      this.#loop.after(delayMs, 'notice', () => this.#listeners.get(node)?.(notice), node);
    }
  }
}
