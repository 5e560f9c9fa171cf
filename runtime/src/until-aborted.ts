/** The events until the signal aborts, even if what sends them ignores the signal. */
export async function* untilAborted<T>(events: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = events[Symbol.asyncIterator]();
  let refuse: (reason: unknown) => void = () => {};
  signal.addEventListener('abort', () => refuse(signal.reason), { once: true });
  try {
    for (;;) {
      // A race with one long-lived promise would keep every event in memory.
      const next = await new Promise<IteratorResult<T>>((resolve, reject) => {
        refuse = reject;
        if (signal.aborted) reject(signal.reason);
        else iterator.next().then(resolve, reject);
      });
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // Not awaited, because what ignores the signal may never end.
    iterator.return?.()?.catch(() => {});
  }
}
