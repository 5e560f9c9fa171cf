/** An address that a text of a model or a document may lead to, or undefined: scripts, files and relative paths are none. */
export function safeLink(url: string): string | undefined {
  return hasProtocol(url, ['http:', 'https:', 'mailto:']) ? url : undefined;
}

/** A page of the web. */
export function webLink(url: string | null): string | undefined {
  return url !== null && hasProtocol(url, ['http:', 'https:']) ? url : undefined;
}

function hasProtocol(url: string, protocols: readonly string[]): boolean {
  const parsed = URL.parse(url);
  return parsed !== null && protocols.includes(parsed.protocol);
}

/** Leads out of the application: the page there learns nothing of this one, and cannot reach it. */
export const outside = { target: '_blank', rel: 'noopener noreferrer nofollow' } as const;
