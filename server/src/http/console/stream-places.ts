/**
 * How many streams one person may have open in this process. The oldest gives way to one too many: it may be that of a
 * window whose network has gone, and nobody is locked out by those.
 */
export class StreamPlaces {
  readonly #perPerson: number;
  /** By person, in order of opening. */
  readonly #open = new Map<string, Set<() => void>>();

  constructor(perPerson: number) {
    this.#perPerson = perPerson;
  }

  /** `giveWay` ends the stream. Answers how to leave the place once it has ended. */
  take(person: string, giveWay: () => void): () => void {
    const open = this.#open.get(person) ?? new Set();
    this.#open.set(person, open);
    const end = () => giveWay();
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
