/** What was typed while the page of a new thread loads. */
let typed = '';

/** Keeps what is typed from now on, until the page is shown and its prompt takes it. */
export function startTypeAhead(): void {
  typed = '';
  addEventListener('keydown', keepKey, true);
}

/** Ends it, and returns what was typed. */
export function endTypeAhead(): string {
  removeEventListener('keydown', keepKey, true);
  const text = typed;
  typed = '';
  return text;
}

function keepKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || takesKeys(event.target)) return;
  if (event.key.length === 1) typed += event.key;
  else if (event.key === 'Backspace') typed = typed.slice(0, -1);
  else return;
  event.preventDefault();
}

/** Text fields, dialogs and menus handle their own keys. */
export function takesKeys(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest('input, textarea, select, [contenteditable], [role="dialog"], [role="menu"]') !== null
  );
}
