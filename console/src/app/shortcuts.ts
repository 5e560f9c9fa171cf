import { useLocalStorage, useWindowEvent } from '@mantine/hooks';
import { useRouter } from '@tanstack/react-router';
import { openOverlay, useOverlay } from './overlay.ts';
import { startTypeAhead } from './type-ahead.ts';

export const searchFieldId = 'thread-search';

/** The label of the modifier key: ⌘ on Apple keyboards, otherwise Ctrl. */
export const controlKey = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl';

export const shortcuts = [
  { keys: [controlKey, 'K'], action: 'Find pages and threads' },
  { keys: ['/'], action: 'Search threads, or filter the list on the page' },
  { keys: ['N'], action: 'New thread' },
  { keys: ['?'], action: 'Show this help' },
  { keys: ['F2'], action: 'Rename the open thread' },
  { keys: ['↑', '↓'], action: 'Move through the thread list' },
  { keys: ['Enter'], action: 'Send (Shift + Enter for a new line)' },
  { keys: ['Esc'], action: 'Clear search or close a dialog' },
] as const;

/** Keys without Ctrl can be turned off: speech input may type them unasked (WCAG 2.1.4). */
export function useSingleKeys() {
  return useLocalStorage({ key: 'skein.single-keys', defaultValue: true });
}

export function useShortcuts(): void {
  const router = useRouter();
  const [singleKeys] = useSingleKeys();
  // A dialog may still be loading when the person types into it.
  const isOverlaid = useOverlay() !== null;
  const single: Record<string, () => void> = {
    '/': () => void search(router.navigate),
    n: () => {
      if (router.state.location.pathname !== '/new') startTypeAhead();
      void router.navigate({ to: '/new' });
    },
    '?': () => openOverlay('keyboard'),
  };
  useWindowEvent('keydown', (event) => {
    if (event.defaultPrevented || event.altKey || event.isComposing) return;
    const withControl = event.ctrlKey || event.metaKey;
    // Also works in text fields, where Ctrl-K has no meaning.
    if (withControl && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      openOverlay('palette');
    } else if (!withControl && singleKeys && !isOverlaid && !takesKeys(event.target)) {
      const act = single[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    }
  });
}

/** Focuses the search field of the page, or opens the thread list if there is none. */
async function search(navigate: ReturnType<typeof useRouter>['navigate']): Promise<void> {
  const field = () => document.getElementById(searchFieldId);
  // Focus at once if possible, because the next key belongs to the search.
  if (field() !== null) return field()?.focus();
  await navigate({ to: '/' });
  requestAnimationFrame(() => field()?.focus());
}

/** Text fields, dialogs and menus handle their own keys. */
function takesKeys(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest('input, textarea, select, [contenteditable], [role="dialog"], [role="menu"]') !== null
  );
}
