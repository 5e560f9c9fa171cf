/**
 * Says, within this process and at once, that a thread, or the sessions of a person, have changed. It is only a hint:
 * followers look for themselves, and also without a hint now and then, since other processes write, too. The end of a
 * reply is signalled by `ReplySignals`, on every node.
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
