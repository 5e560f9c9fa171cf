/** Serves all calls in one round trip. The outcomes are in the order of the calls. */
export type Fly<Call, Outcome> = (calls: readonly Call[]) => Promise<readonly Outcome[]>;

export interface GathererSettings<Call> {
  /** How many flights of a lane may be under way. The calls that arrive meanwhile share the next one. */
  readonly flightsMax: number;
  /** Of one flight, so that nobody waits for an unbounded number of others. */
  readonly callsMax: number;
  /** Calls of different lanes never share a flight and never wait for each other. By default there is one lane. */
  readonly laneOf?: (call: Call) => string;
  /** Calls with the same key never share a flight, because one statement cannot change the same row twice. */
  readonly keyOf?: ((call: Call) => string | undefined) | undefined;
  /**
   * Whether a flight that failed has changed nothing and may have failed because of one of its calls. Its calls then fly
   * again in smaller flights, so that only the faulty call fails.
   */
  readonly mayBeOneCallsFault: (error: unknown) => boolean;
  /** Calls `depart` once the calls that arrive at the same time have arrived. */
  readonly defer?: (depart: () => void) => void;
}

interface Passenger<Call, Outcome> {
  readonly call: Call;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

interface Lane<Call, Outcome> {
  readonly waiting: Passenger<Call, Outcome>[];
  flying: number;
  isDeferred: boolean;
}

/**
 * Gathers calls into flights. A lone call leaves at the end of its turn of the event loop. While `flightsMax` flights are
 * under way, calls wait and share the next flight, so that flights grow with the load. Calls leave in the order in which
 * they arrived. Each call gets its own outcome; when a flight is lost, its calls fail and no others.
 */
export class Gatherer<Call, Outcome> {
  readonly #fly: Fly<Call, Outcome>;
  readonly #settings: GathererSettings<Call>;
  readonly #lanes = new Map<string, Lane<Call, Outcome>>();

  constructor(fly: Fly<Call, Outcome>, settings: GathererSettings<Call>) {
    this.#fly = fly;
    this.#settings = settings;
  }

  call(call: Call): Promise<Outcome> {
    const { laneOf = () => '', defer = setImmediate } = this.#settings;
    const name = laneOf(call);
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = { waiting: [], flying: 0, isDeferred: false };
      this.#lanes.set(name, lane);
    }
    const { waiting } = lane;
    const outcome = new Promise<Outcome>((resolve, reject) => waiting.push({ call, resolve, reject }));
    if (!lane.isDeferred && lane.flying < this.#settings.flightsMax) {
      lane.isDeferred = true;
      defer(() => {
        lane.isDeferred = false;
        this.#depart(name, lane);
      });
    }
    return outcome;
  }

  #depart(name: string, lane: Lane<Call, Outcome>): void {
    while (lane.flying < this.#settings.flightsMax && lane.waiting.length > 0) {
      lane.flying += 1;
      void this.#serve(this.#board(lane)).then(() => {
        lane.flying -= 1;
        this.#depart(name, lane);
      });
    }
    if (lane.flying === 0 && !lane.isDeferred) this.#lanes.delete(name);
  }

  /** Takes the passengers of the next flight out of the lane. */
  #board({ waiting }: Lane<Call, Outcome>): Passenger<Call, Outcome>[] {
    const { callsMax, keyOf } = this.#settings;
    const boarding = waiting.splice(0, callsMax);
    if (keyOf === undefined) return boarding;
    const keys = new Set<string | undefined>();
    const [boarded, left]: [Passenger<Call, Outcome>[], Passenger<Call, Outcome>[]] = [[], []];
    for (const passenger of boarding) {
      const key = keyOf(passenger.call);
      (keys.has(key) ? left : boarded).push(passenger);
      if (key !== undefined) keys.add(key);
    }
    waiting.unshift(...left);
    return boarded;
  }

  /** Settles every passenger and never rejects. */
  async #serve(passengers: readonly Passenger<Call, Outcome>[]): Promise<void> {
    try {
      const outcomes = await this.#fly(passengers.map(({ call }) => call));
      passengers.forEach(({ resolve }, place) => {
        resolve(outcomes[place]!);
      });
    } catch (error) {
      if (passengers.length === 1 || !this.#settings.mayBeOneCallsFault(error)) {
        for (const { reject } of passengers) reject(error);
        return;
      }
      const half = Math.ceil(passengers.length / 2);
      await this.#serve(passengers.slice(0, half));
      await this.#serve(passengers.slice(half));
    }
  }
}
