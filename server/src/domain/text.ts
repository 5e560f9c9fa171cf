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

/** Control characters, and those that reverse the direction of text: a name with them could imitate another. */
const deceptive = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/u;
const visible = /[^\p{Cf}\p{Z}]/u;

/** Why a name cannot be used, or `undefined` if it can. */
export function nameFault(name: string, lengthMin: number, lengthMax: number): string | undefined {
  if (!isKeepable(name)) return 'must not contain NUL or a lone surrogate';
  if (deceptive.test(name)) return 'must not contain control characters';
  if (name !== '' && !visible.test(name)) return 'must contain a visible character';
  const length = [...name].length;
  return length < lengthMin || length > lengthMax
    ? `must have ${lengthMin} to ${lengthMax} characters`
    : undefined;
}
