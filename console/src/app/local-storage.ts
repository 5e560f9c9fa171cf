/** Reads a value that the browser stores between visits. Null if it has none, or if its storage is blocked. */
export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(`skein.${name}`);
  } catch {
    return null;
  }
}

/** An empty text removes the value. */
export function writeStored(name: string, text: string): void {
  try {
    if (text === '') localStorage.removeItem(`skein.${name}`);
    else localStorage.setItem(`skein.${name}`, text);
  } catch {
    // The storage is full or blocked. The page works without it.
  }
}
