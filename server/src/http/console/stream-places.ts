/**
 * How many streams one session may have open in this process. The oldest gives way to one too many: it may be that of a
 * window whose network has gone, and nobody is locked out by those.
 */
export class StreamPlaces {
  readonly #perSession: number;
  /** By session, in order of opening. */
  readonly #open = new Map<string, Set<() => void>>();

  constructor(perSession: number) {
    this.#perSession = perSession;
  }

  /** `giveWay` ends the stream. Answers how to leave the place once it has ended. */
  take(session: string, giveWay: () => void): () => void {
    const open = this.#open.get(session) ?? new Set();
    this.#open.set(session, open);
    const end = () => giveWay();
    open.add(end);
    if (open.size > this.#perSession) {
      const [oldest] = open;
      if (oldest !== undefined) open.delete(oldest);
      oldest?.();
    }
    return () => {
      open.delete(end);
      if (open.size === 0 && this.#open.get(session) === open) this.#open.delete(session);
    };
  }
}
