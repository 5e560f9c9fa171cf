import { setImmediate as untilMicrotasksAreDone } from 'node:timers/promises';
import type { Timers } from '../../../runtime/src/timers.ts';
import type { Random } from './random.ts';

interface Event {
  readonly atUs: number;
  readonly order: number;
  readonly label: string;
  readonly process: SimulatedProcess | undefined;
  run: (() => void) | undefined;
}

/** Something that can be paused, as by SIGSTOP, or killed. */
export interface SimulatedProcess {
  readonly name: string;
  state: 'running' | 'paused' | 'dead';
  /** What happened to it while it was paused. */
  readonly held: Event[];
}

/**
 * Simulated time. Events run one at a time, in the order of their times, which come from the seed. The next one runs when
 * the promises of the one before have settled: there is no other concurrency.
 */
export class EventLoop {
  readonly #events: Event[] = [];
  #nowUs = 0;
  #order = 0;
  #hash = 0x811c9dc5;
  steps = 0;
  /** Called with the label of each event, and with notes. */
  record: (line: string) => void = () => {};

  get nowMs(): number {
    return this.#nowUs / 1000;
  }

  /** A hash of all events so far, with their times. */
  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0');
  }

  /** Runs `run` after `ms`, unless the process is dead by then. Returns a function that cancels it. */
  after(ms: number, label: string, run: () => void, process?: SimulatedProcess): () => void {
    this.#order += 1;
    const atUs = this.#nowUs + Math.max(1, Math.round(ms * 1000));
    const event: Event = { atUs, order: this.#order, label, process, run };
    this.#push(event);
    return () => {
      event.run = undefined;
    };
  }

  /** Adds a line to the history. */
  note(line: string): void {
    for (let place = 0; place < line.length; place += 1) this.#mix(line.charCodeAt(place));
    this.record(`${this.nowMs.toFixed(1).padStart(9)}  ${line}`);
  }

  /** Runs the next event. */
  async step(): Promise<void> {
    const event = this.#pop();
    if (event === undefined) throw new Error('nothing is left to happen');
    this.#nowUs = Math.max(this.#nowUs, event.atUs);
    const { run, process } = event;
    if (run === undefined || process?.state === 'dead') return;
    if (process?.state === 'paused') {
      process.held.push(event);
      return;
    }
    this.steps += 1;
    this.#mix(event.atUs);
    this.#mix(event.order);
    event.run = undefined;
    run();
    await untilMicrotasksAreDone();
  }

  resume(process: SimulatedProcess): void {
    process.state = 'running';
    for (const event of process.held.splice(0)) {
      this.#order += 1;
      this.#push({ ...event, atUs: this.#nowUs, order: this.#order });
    }
  }

  createTimers(process: SimulatedProcess, random: Random): Timers {
    const after = (ms: number, callback: () => void) => this.after(ms, 'timer', callback, process);
    return {
      steadyMs: () => this.nowMs,
      after,
      every(ms, callback) {
        let cancel = () => {};
        const next = () => {
          cancel = after(ms, () => {
            next();
            callback();
          });
        };
        next();
        return () => cancel();
      },
      random: random.fraction,
    };
  }

  #mix(value: number): void {
    this.#hash = Math.imul(this.#hash ^ value, 0x01000193);
  }

  // A binary heap.
  #push(event: Event): void {
    const events = this.#events;
    let place = events.push(event) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!isBefore(event, events[parent]!)) break;
      events[place] = events[parent]!;
      place = parent;
    }
    events[place] = event;
  }

  #pop(): Event | undefined {
    const events = this.#events;
    const first = events[0];
    const last = events.pop();
    if (first === undefined || last === undefined || events.length === 0) return first;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= events.length) break;
      if (child + 1 < events.length && isBefore(events[child + 1]!, events[child]!)) child += 1;
      if (!isBefore(events[child]!, last)) break;
      events[place] = events[child]!;
      place = child;
    }
    events[place] = last;
    return first;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.atUs < other.atUs || (one.atUs === other.atUs && one.order < other.order);
}
