import hidden from '../thread/unseen.module.css';

/** Receives what is typed while the page of a new thread loads. It is not visible, and Enter adds nothing to it. */
const field = document.createElement('input');
field.className = hidden.unseen ?? '';
// Not the name of the prompt, which takes its place.
field.ariaLabel = 'Start typing';

/** Moves the focus to the field, until the page is shown and its prompt takes what was typed. */
export function startTypeAhead(): void {
  field.value = '';
  document.body.append(field);
  field.focus({ preventScroll: true });
}

/** Removes the field, and returns what was typed. */
export function endTypeAhead(): string {
  const text = field.isConnected ? field.value : '';
  field.remove();
  return text;
}
