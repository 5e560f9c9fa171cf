/**
 * The request target for the router. In a path that cannot be decoded, `%` is replaced by a character that no id has, so
 * that the path goes through the same checks as any unknown path, in the same order.
 */
export function normalizeUrl(target: string): string {
  const url = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '') || '/';
  if (!url.includes('%')) return url;
  const end = url.search(/[?#]/);
  const path = end === -1 ? url : url.slice(0, end);
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return path.replaceAll('%', '!') + url.slice(path.length);
  }
}
