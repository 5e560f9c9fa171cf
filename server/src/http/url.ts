import { invalid } from '../domain/errors.ts';

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

/** The part of a query schema that determines how a parameter is parsed. */
export interface QuerySchema {
  readonly properties: Record<string, { readonly type?: string }>;
}

/**
 * Parses the known parameters of a raw query. A repeated or undecodable parameter is an error. Only plain decimals become
 * integers: `1e1`, `1.5` and the empty text stay strings, which validation rejects.
 */
export function parseQuery(raw: string, { properties }: QuerySchema): Record<string, string | number> {
  const query: Record<string, string | number> = {};
  for (const pair of raw.split('&')) {
    const separator = pair.indexOf('=');
    const name = decode(separator === -1 ? pair : pair.slice(0, separator));
    if (name === undefined || !Object.hasOwn(properties, name)) continue;
    if (Object.hasOwn(query, name)) throw invalid(`${name}: must not be repeated.`);
    const value = decode(separator === -1 ? '' : pair.slice(separator + 1));
    if (value === undefined) throw invalid(`${name}: is not valid percent-encoded UTF-8.`);
    query[name] =
      properties[name]?.type === 'integer' && /^(0|-?[1-9]\d{0,14})$/.test(value) ? Number(value) : value;
  }
  return query;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
