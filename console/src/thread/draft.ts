import { useState } from 'react';
import { readStored, writeStored } from '../app/local-storage.ts';

/** `threadId` is `new` for a thread that does not exist yet. */
export function buildDraftName(userId: string, organizationId: string, threadId: string): string {
  return `draft.${userId}.${organizationId}.${threadId}`;
}

/** A text that survives a reload, a closed window or a failed request. Forgetting it keeps what another window wrote. */
export function useDraft(name: string): [text: string, change: (text: string) => void, forget: () => void] {
  const [text, setText] = useState(() => readStored(name) ?? '');
  const change = (next: string) => {
    setText(next);
    writeStored(name, next);
  };
  const forget = () => {
    setText('');
    forgetDraft(name, text);
  };
  return [text, change, forget];
}

/**
 * Removes a draft whose field is rendered again afterwards. Returns false and keeps the draft if its text has changed
 * since.
 */
export function forgetDraft(name: string, text: string): boolean {
  if (readStored(name) !== text) return false;
  writeStored(name, '');
  return true;
}
