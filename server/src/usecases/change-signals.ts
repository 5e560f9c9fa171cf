/**
 * Signals within this process that a thread has changed. A signal is only a hint: other processes write too, so followers
 * also poll. `ReplySignals` signals the end of a reply on every node.
 */
export class ChangeSignals<Id extends string> {
  readonly #followers = new Map<Id, Set<() => void>>();

  changed(id: Id): void {
    const followers = this.#followers.get(id);
    if (followers !== undefined) for (const follower of [...followers]) follower();
  }

  /** Calls `changed` whenever there was a change. Returns how to stop. */
  follow(id: Id, changed: () => void): () => void {
    // A wrapper for each call: a function that follows twice is called twice, and stops once.
    const follower = () => changed();
    const followers = this.#followers.get(id) ?? new Set();
    this.#followers.set(id, followers.add(follower));
    return () => {
      followers.delete(follower);
      if (followers.size === 0 && this.#followers.get(id) === followers) this.#followers.delete(id);
    };
  }

  /** How many ids somebody follows. */
  get followed(): number {
    return this.#followers.size;
  }
}
