/** Signals within this process. A signal is only a hint: other processes write too, so followers also poll. */
export class Signals<Subject> {
  readonly #followers = new Map<Subject, Set<() => void>>();

  changed(subject: Subject): void {
    const followers = this.#followers.get(subject);
    if (followers !== undefined) for (const follower of [...followers]) follower();
  }

  follow(subject: Subject, changed: () => void): () => void {
    // A wrapper for each call: a function that follows twice is called twice, and stops once.
    const follower = () => changed();
    const followers = this.#followers.get(subject) ?? new Set();
    this.#followers.set(subject, followers.add(follower));
    return () => {
      followers.delete(follower);
      if (followers.size === 0 && this.#followers.get(subject) === followers) this.#followers.delete(subject);
    };
  }

  followed(): Subject[] {
    return [...this.#followers.keys()];
  }
}
