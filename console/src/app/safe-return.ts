const here = 'http://skein.invalid';

/** Returns the path if it is on this site. Anything that a browser could read as another site is rejected. */
export function safeReturn(path: unknown): string | undefined {
  if (typeof path !== 'string' || !path.startsWith('/') || !URL.canParse(path, here)) return undefined;
  const { origin, pathname, search, hash } = new URL(path, here);
  // After dots are resolved, the path may start with two slashes, which names another host.
  return origin === here && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : undefined;
}
