/** What the browser keeps between visits. A browser that keeps nothing (or is full) costs the convenience, not the page. */
export function readKept(name: string): string | null {
  try {
    return localStorage.getItem(`skein.${name}`);
  } catch {
    return null;
  }
}

/** An empty text is forgotten. */
export function keep(name: string, text: string): void {
  try {
    if (text === '') localStorage.removeItem(`skein.${name}`);
    else localStorage.setItem(`skein.${name}`, text);
  } catch {
    // Nothing to be done: see above.
  }
}
