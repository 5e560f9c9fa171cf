const preference = /^([!#$%&'*+.^_`|~0-9a-z-]+)(?:[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|[^\s;",]*))?/i;

/** The longest wait that is granted. A longer one is shortened to it, as RFC 7240 allows. */
const waitSecondsMax = 25;

/**
 * The seconds granted for `Prefer: wait=N`. The first `wait` counts. A value that is not a whole number is ignored,
 * because a preference never makes a request invalid (RFC 7240 §2).
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

/** The members of the list. Commas within quotes do not separate members. */
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
