import { useSyncExternalStore } from 'react';

/** A value that lives outside of React. Components that call `use` are rendered again when it changes. */
export function sharedValue<T>(initial: T) {
  let current = initial;
  const listeners = new Set<() => void>();
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return {
    get: () => current,
    set(next: T) {
      current = next;
      for (const listener of listeners) listener();
    },
    use: () => useSyncExternalStore(subscribe, () => current),
  };
}
