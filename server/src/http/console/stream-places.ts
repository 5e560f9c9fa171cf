/**
 * Limits the streams that one person has open in this process. One too many closes the oldest, which may belong to a
 * window that lost its network: such windows never lock a person out.
 */
export class StreamPlaces {
  readonly #perPerson: number;
  /** By person, in order of opening. */
  readonly #open = new Map<string, Set<() => void>>();

  constructor(perPerson: number) {
    this.#perPerson = perPerson;
  }

  /** `close` ends the stream. Returns a function to call when it has ended. */
  take(person: string, close: () => void): () => void {
    const open = this.#open.get(person) ?? new Set();
    this.#open.set(person, open);
    const end = () => close();
    open.add(end);
    if (open.size > this.#perPerson) {
      const [oldest] = open;
      if (oldest !== undefined) open.delete(oldest);
      oldest?.();
    }
    return () => {
      open.delete(end);
      if (open.size === 0 && this.#open.get(person) === open) this.#open.delete(person);
    };
  }
}
