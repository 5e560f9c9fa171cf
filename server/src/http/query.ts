import { ServiceError } from '../domain/errors.ts';

/** The part of a query schema that decides how a parameter's text is read. */
export interface QuerySchema {
  readonly properties: Record<string, { readonly type?: string }>;
}

/**
 * The known parameters of a raw query, strictly: twice, or not decodable, is an error; an integer is a number only in its
 * plain decimal form, so that `1e1`, `1.5` and the empty text reach validation as the strings they are.
 */
export function parseQuery(raw: string, { properties }: QuerySchema): Record<string, string | number> {
  const query: Record<string, string | number> = {};
  for (const pair of raw.split('&')) {
    const separator = pair.indexOf('=');
    const name = decode(separator === -1 ? pair : pair.slice(0, separator));
    if (name === undefined || !Object.hasOwn(properties, name)) continue;
    if (Object.hasOwn(query, name)) throw invalid(name, 'must not be repeated');
    const value = decode(separator === -1 ? '' : pair.slice(separator + 1));
    if (value === undefined) throw invalid(name, 'is not valid percent-encoded UTF-8');
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

function invalid(name: string, fault: string): ServiceError {
  return new ServiceError('INVALID_PARAMS', `${name}: ${fault}.`);
}
