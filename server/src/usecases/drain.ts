const probedMs = 5_000;
/** After this long without requests, the load balancer has switched to other nodes. */
const quietMs = 500;

/**
 * The time between the stop signal and closing the listener. Meanwhile `/readyz` answers 503 and every answer closes its
 * connection, but requests are still served: a proxy that checks `/readyz` switches to other nodes and loses no request.
 */
export class Drain {
  readonly #ms: number | undefined;
  #probed = false;
  #started = false;
  #requestMs = 0;

  /** Without `ms` it takes 5 s if `/readyz` was ever requested, otherwise no time: no proxy would notice. */
  constructor(ms: number | undefined) {
    this.#ms = ms;
  }

  get isStarted(): boolean {
    return this.#started;
  }

  probeArrived(): void {
    this.#probed = true;
  }

  requestArrived(): void {
    this.#requestMs = performance.now();
  }

  /** Resolves when the listener may close. It takes up to twice as long while requests still arrive. */
  async start(): Promise<void> {
    this.#started = true;
    const startedMs = performance.now();
    const ms = this.#ms ?? (this.#probed ? probedMs : 0);
    for (;;) {
      const elapsedMs = performance.now() - startedMs;
      const isQuiet = performance.now() - this.#requestMs >= quietMs;
      if (elapsedMs >= 2 * ms || (elapsedMs >= ms && isQuiet)) return;
      await new Promise((resolve) => setTimeout(resolve, Math.min(50, ms)));
    }
  }
}
