const preference = /^([!#$%&'*+.^_`|~0-9a-z-]+)(?:[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|[^\s;",]*))?/i;

/** Longer than any answer is held: what is asked for beyond it is granted up to it (RFC 7240 allows that). */
const waitSecondsMax = 25;

/**
 * The seconds of `Prefer: wait=N` that are granted. The first `wait` counts, and one that is no whole number is ignored:
 * a preference is a wish, and never makes a request wrong (RFC 7240 §2).
 */
export function preferredWaitSeconds(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  for (const item of itemsOf(header)) {
    const [, name = '', value = ''] = preference.exec(item) ?? [];
    if (name.toLowerCase() !== 'wait') continue;
    const seconds = value.replace(/^"(.*)"$/, '$1');
    return /^\d{1,9}$/.test(seconds) ? Math.min(Number(seconds), waitSecondsMax) : undefined;
  }
  return undefined;
}

/** The members of the list; a comma within quotes divides nothing. */
function itemsOf(header: string): string[] {
  const items: string[] = [];
  let item = '';
  let quoted = false;
  for (let index = 0; index < header.length; index += 1) {
    const character = header[index] as string;
    if (character === '\\' && quoted) {
      item += character + (header[index + 1] ?? '');
      index += 1;
    } else if (character === ',' && !quoted) {
      items.push(item.trim());
      item = '';
    } else {
      if (character === '"') quoted = !quoted;
      item += character;
    }
  }
  return [...items, item.trim()];
}
