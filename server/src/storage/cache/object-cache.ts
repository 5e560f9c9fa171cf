import { LRUCache } from 'lru-cache';
import type { WholeThread } from '../port/store.ts';

/** Caches what a store has read, by name, within a limit of memory. The store decides whether an object is current. */
export class ObjectCache {
  readonly #limits: { readonly maxSize: number; readonly maxEntrySize: number };
  #objects: LRUCache<string, object>;

  constructor(bytesMax: number) {
    // Each is at least 1, which no object fits: the library reads 0 as no limit.
    const maxSize = Math.max(1, bytesMax);
    // A larger object would displace many others.
    const maxEntrySize = Math.max(1, Math.floor(bytesMax / 8));
    this.#limits = { maxSize, maxEntrySize };
    this.#objects = new LRUCache(this.#limits);
  }

  /** The memory of all objects. */
  get bytes(): number {
    return this.#objects.calculatedSize;
  }

  /** Does not check whether the object is current: the caller compares it with its row. */
  peek<T extends object>(name: string): T | undefined {
    return this.#objects.get(name) as T | undefined;
  }

  has(name: string): boolean {
    return this.#objects.has(name);
  }

  /** `bytes` includes what is cached with the object, such as its JSON. Objects over an eighth of the limit are not cached. */
  set<T extends object>(name: string, value: T, bytes: number): T {
    this.#objects.set(name, value, { size: bytes });
    return value;
  }

  remove(name: string): void {
    this.#objects.delete(name);
  }

  clear(): void {
    // The library's own `clear` visits every object: 3 ms for 20,000.
    this.#objects = new LRUCache(this.#limits);
  }
}

/** Bytes that the objects take without long texts. A thread with one prompt and its reply takes 3 kB. */
const threadMemory = 2048;
const messageMemory = 512;

/** The memory of the texts of an object, at two bytes a character, and of its JSON in UTF-8. */
export function estimateTextMemory(value: object): number {
  const json = JSON.stringify(value);
  return 2 * json.length + Buffer.byteLength(json);
}

/** The memory of a thread and of its JSON, in bytes. */
export function estimateMemory({ thread, messages }: WholeThread): number {
  return messages.reduce(
    (sum, message) => sum + messageMemory + estimateTextMemory(message),
    threadMemory + estimateTextMemory(thread),
  );
}
