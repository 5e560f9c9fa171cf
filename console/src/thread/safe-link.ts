/** Returns the URL if a text from a model or a document may link to it. Rejects scripts, files and relative paths. */
export function safeLink(url: string): string | undefined {
  return hasProtocol(url, ['http:', 'https:', 'mailto:']) ? url : undefined;
}

/** Returns the URL if it is a web page. */
export function webLink(url: string | null): string | undefined {
  return url !== null && hasProtocol(url, ['http:', 'https:']) ? url : undefined;
}

function hasProtocol(url: string, protocols: readonly string[]): boolean {
  const parsed = URL.parse(url);
  return parsed !== null && protocols.includes(parsed.protocol);
}

/** Attributes for links that leave the application: the target page gets no referrer and cannot access this window. */
export const outside = { target: '_blank', rel: 'noopener noreferrer nofollow' } as const;
