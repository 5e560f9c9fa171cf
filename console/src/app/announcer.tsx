import { VisuallyHidden } from '@mantine/core';
import { useSyncExternalStore } from 'react';

let said = { text: '', times: 0 };
const listeners = new Set<() => void>();

/** Has a screen reader say it, when it has finished what it is saying. */
export function announce(text: string): void {
  said = { text, times: said.times + 1 };
  for (const listener of listeners) listener();
}

/** The one live region of the application. A text that is said twice is a new node, or it would not be heard again. */
export function Announcer() {
  const { text, times } = useSyncExternalStore(subscribe, () => said);
  return (
    <VisuallyHidden role="status" aria-live="polite" data-testid="announcer">
      <span key={times}>{text}</span>
    </VisuallyHidden>
  );
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
