import { ObjectCache } from './object-cache.ts';

/** Bytes that a value takes besides its texts. */
const valueMemory = 200;

/** Caches what searches read. A value stays valid while its corpora have the same documents: one that is ready never changes. */
export class SearchCache {
  readonly #values: ObjectCache;

  /** `bytesMax` limits the cache of all organizations together, approximately. */
  constructor(bytesMax = 16_000_000) {
    this.#values = new ObjectCache(bytesMax);
  }

  of(corpora: readonly { number: number; stamp: number }[]) {
    const scope = corpora.map(({ number, stamp }) => `${number}:${stamp}`).join();
    const find = <Value extends object>(name: string): Value | undefined =>
      this.#values.peek(`${scope} ${name}`);
    const set = <Value extends object>(name: string, value: Value): Value => {
      const bytes = valueMemory + scope.length + name.length + JSON.stringify(value).length;
      return this.#values.set(`${scope} ${name}`, value, bytes);
    };
    const findOrRead = <Value extends object>(name: string, read: () => Value): Value =>
      find<Value>(name) ?? set(name, read());
    return { find, set, findOrRead };
  }
}
