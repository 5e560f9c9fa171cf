/** Whether a text can be kept and shown exactly as it came: PostgreSQL has no NUL, UTF-8 no lone surrogate. */
export function isKeepable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** The text, or its beginning with an ellipsis where it has more than `lengthMax` code points. */
export function cutText(text: string, lengthMax: number): string {
  // Only the beginning is looked at: the text may have megabytes.
  const letters = [...text.slice(0, 2 * (lengthMax + 1))];
  if (letters.length <= lengthMax) return text;
  return `${letters
    .slice(0, lengthMax - 1)
    .join('')
    .trimEnd()}…`;
}

/** Why a name given by an operator cannot be kept, or `undefined` when it can. */
export function nameFault(name: string, lengthMin: number, lengthMax: number): string | undefined {
  if (!isKeepable(name)) return 'must not contain NUL or a lone surrogate';
  const length = [...name].length;
  return length < lengthMin || length > lengthMax
    ? `must have ${lengthMin} to ${lengthMax} characters`
    : undefined;
}
