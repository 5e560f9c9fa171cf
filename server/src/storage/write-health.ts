import type { StoreWatch } from './store.ts';

/** Whether the store accepts writes, judged by the last one. */
export class WriteHealth {
  readonly #watch: Pick<StoreWatch, 'writesFail' | 'writesSucceed'> | undefined;
  #failure: Error | undefined;

  constructor(watch?: Pick<StoreWatch, 'writesFail' | 'writesSucceed'>) {
    this.#watch = watch;
  }

  /** Why the last write failed; undefined after one that succeeded. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  failed(error: Error): void {
    const before = this.#failure;
    this.#failure = error;
    if (before === undefined) this.#watch?.writesFail(error);
  }

  succeeded(): void {
    if (this.#failure === undefined) return;
    this.#failure = undefined;
    this.#watch?.writesSucceed();
  }
}
