const here = 'http://skein.invalid';

/** Only a path of this application: whatever a browser would take for another place is not one. */
export function safeReturn(path: unknown): string | undefined {
  if (typeof path !== 'string' || !path.startsWith('/') || !URL.canParse(path, here)) return undefined;
  const { origin, pathname, search, hash } = new URL(path, here);
  // What dots have led to may begin with two slashes, and be another's address after all.
  return origin === here && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : undefined;
}
