import { VisuallyHidden } from '@mantine/core';
import { sharedValue } from './shared-value.ts';

const announcement = sharedValue({ text: '', times: 0 });

/** Announces a text to screen readers, after what they are reading now. */
export function announce(text: string): void {
  announcement.set({ text, times: announcement.get().times + 1 });
}

/** The only live region of the application. Each text is a new node, because an unchanged one is not read again. */
export function Announcer() {
  const { text, times } = announcement.use();
  return (
    <VisuallyHidden role="status" aria-live="polite" data-testid="announcer">
      <span key={times}>{text}</span>
    </VisuallyHidden>
  );
}
