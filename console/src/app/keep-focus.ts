const controls = 'a[href], button, input, select, textarea, [tabindex="0"]';
/** A menu or dialog that closes returns the focus itself, within this time. */
const settlingMs = 50;

/**
 * Returns the focus to a control that was disabled while its request was sent. If the control was removed, the one before
 * it gets the focus, so that Tab continues at the same place. After a dialog, that is the control that opened it or, if it
 * was removed, the one before it. If all of the page was replaced, the page gets it.
 */
export function keepFocus(): void {
  let focused: HTMLElement | undefined;
  /** The focused control of the page and of the dialog over it, each after those before it. */
  let inPage: readonly HTMLElement[] = [];
  let inDialog: readonly HTMLElement[] = [];
  let main: HTMLElement | null = null;
  let isWaiting = false;

  const restore = () => {
    isWaiting = false;
    if (focused === undefined || document.activeElement !== document.body) return;
    if (focused.isConnected && focused.matches(':disabled')) return;
    const place = [...inPage, ...inDialog].findLast(
      (one) => one.checkVisibility() && !one.matches(':disabled'),
    );
    (place ?? main)?.focus({ preventScroll: true });
  };
  addEventListener('focusin', ({ target }) => {
    const element = target as HTMLElement;
    const dialog = element.closest('[role="dialog"]');
    const part = dialog ?? element.closest('main') ?? document;
    focused = element;
    // Null on the sign-in page: the page after it starts from its top.
    main = document.getElementById('main');
    const before = [...part.querySelectorAll<HTMLElement>(controls)].filter(
      (one) => one.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING,
    );
    if (dialog === null) inPage = [...before, element];
    inDialog = dialog === null ? [] : [...before, element];
  });
  addEventListener('focusout', ({ target }) =>
    queueMicrotask(() => {
      // The person left it.
      if (target === focused && focused?.isConnected && !focused.matches(':disabled')) focused = undefined;
    }),
  );
  new MutationObserver(() => {
    if (isWaiting || focused === undefined || document.activeElement !== document.body) return;
    isWaiting = true;
    setTimeout(restore, settlingMs);
  }).observe(document.body, { subtree: true, childList: true, attributeFilter: ['disabled'] });
}
