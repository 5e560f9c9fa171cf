const controls = 'a[href], button, input, select, textarea, [tabindex="0"]';
/** A menu or dialog that closes returns the focus itself, within this time. */
const settlingMs = 50;

/**
 * Returns the focus to a control that was disabled while its request was sent. If the control was removed, the one before
 * it gets the focus, so that Tab continues at the same place. If all of the page or dialog was replaced, the page gets it.
 */
export function keepFocus(): void {
  let focused: HTMLElement | undefined;
  let before: readonly HTMLElement[] = [];
  let main: HTMLElement | null = null;
  let isWaiting = false;

  const restore = () => {
    isWaiting = false;
    if (focused === undefined || document.activeElement !== document.body) return;
    if (focused.isConnected && focused.matches(':disabled')) return;
    const place = [...before, focused].findLast((one) => one.checkVisibility() && !one.matches(':disabled'));
    (place ?? main)?.focus({ preventScroll: true });
  };
  addEventListener('focusin', ({ target }) => {
    const element = target as HTMLElement;
    const part = element.closest('[role="dialog"], main') ?? document;
    focused = element;
    // Null on the sign-in page: the page after it starts from its top.
    main = document.getElementById('main');
    before = [...part.querySelectorAll<HTMLElement>(controls)].filter(
      (one) => one.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING,
    );
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
