import type { StoreWatch } from './store.ts';

/** Whether the store accepts writes, judged by the last one. */
export class WriteHealth {
  readonly #watch: StoreWatch | undefined;
  /** Why the last write failed; undefined after one that succeeded. */
  failure: Error | undefined;

  constructor(watch?: StoreWatch) {
    this.#watch = watch;
  }

  failed(error: Error): void {
    if (this.failure === undefined) this.#watch?.writesFail(error);
    this.failure = error;
  }

  succeeded(): void {
    if (this.failure === undefined) return;
    this.failure = undefined;
    this.#watch?.writesSucceed();
  }
}
