import type { WholeThread } from './store.ts';

export const cacheBytesDefault = 64 * 1024 * 1024;

interface Entry {
  readonly value: object;
  readonly bytes: number;
  /** Whether it was read since it was last considered for eviction. */
  wasUsed: boolean;
}

/** Objects that were read from a store, by name, within a limit of memory. The store decides whether they are current. */
export class KeptObjects {
  readonly #bytesMax: number;
  readonly #entries = new Map<string, Entry>();
  /** The memory of all objects. */
  bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Does not check whether the object is current: the caller compares it with its row. */
  peek<T extends object>(name: string): T | undefined {
    const entry = this.#entries.get(name);
    if (entry !== undefined) entry.wasUsed = true;
    return entry?.value as T | undefined;
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /**
   * `bytes` includes what is kept with the object, such as its JSON. An object larger than an eighth of the limit is not
   * kept, because it would displace many others.
   */
  keep<T extends object>(name: string, value: T, bytes: number): T {
    if (bytes > this.#bytesMax / 8) return value;
    this.remove(name);
    this.#entries.set(name, { value, bytes, wasUsed: false });
    this.bytes += bytes;
    while (this.bytes > this.#bytesMax) this.#evict();
    return value;
  }

  remove(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    this.#entries.delete(name);
    this.bytes -= entry.bytes;
  }

  clear(): void {
    this.#entries.clear();
    this.bytes = 0;
  }

  /** Removes the oldest object that was not used since it was last considered. Used objects move to the end. */
  #evict(): void {
    for (const [name, entry] of this.#entries) {
      this.#entries.delete(name);
      if (!entry.wasUsed) {
        this.bytes -= entry.bytes;
        return;
      }
      entry.wasUsed = false;
      this.#entries.set(name, entry);
    }
  }
}

/** Bytes that the objects take without long texts. A thread with one prompt and its reply takes 3 kB. */
const threadMemory = 2048;
const messageMemory = 512;

/** The memory of a thread and of its JSON, in bytes: two per character of each at most. */
export function memoryOf({ thread, messages }: WholeThread): number {
  const bytes = threadMemory + 4 * JSON.stringify(thread).length;
  return messages.reduce((sum, { content, ...message }) => {
    // JSON can be six times as long as its text.
    const texts = content.length + JSON.stringify(content).length + 2 * JSON.stringify(message).length;
    return sum + messageMemory + 2 * texts;
  }, bytes);
}
