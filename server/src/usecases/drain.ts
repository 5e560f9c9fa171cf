const probedMs = 5_000;
/** A load balancer that has sent nothing for this long sends its requests elsewhere. */
const quietMs = 500;

/**
 * The time between the signal to stop and the end of listening. Meanwhile `/readyz` says 503 and every answer closes its
 * connection, but requests are served as before: a proxy that checks `/readyz` sends the next ones elsewhere and loses none.
 */
export class Drain {
  readonly #ms: number | undefined;
  #probed = false;
  #started = false;
  #requestMs = 0;

  /** Without `ms` it takes 5 s if anyone has asked for `/readyz`, and no time otherwise: then no proxy would notice. */
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
