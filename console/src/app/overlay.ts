import { useSyncExternalStore } from 'react';

/** What lies over the page, asked for from anywhere: at most one at a time. */
export type Overlay = 'palette' | 'keyboard' | null;

let current: Overlay = null;
const listeners = new Set<() => void>();

export function openOverlay(overlay: Overlay): void {
  current = overlay;
  for (const listener of listeners) listener();
}

export function closeOverlay(): void {
  openOverlay(null);
}

export function useOverlay(): Overlay {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}
