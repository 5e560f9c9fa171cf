import type { IncomingMessage } from 'node:http';

/** How often a header was sent. `request.headers` keeps only one of them. */
export function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index] as string;
    if (sent.length === name.length && sent.toLowerCase() === name) count += 1;
  }
  return count;
}

/** Why a request is ambiguous: a proxy and this server could read it differently (RFC 9112 §3.2, §6.1). */
export function ambiguityOf(request: IncomingMessage): string | undefined {
  const hosts = countHeader(request, 'host');
  if (hosts > 1 || (hosts === 0 && request.httpVersion === '1.1')) return 'Host: must be sent once.';
  const coding = request.headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return 'Transfer-Encoding: must be chunked or absent.';
  }
  return undefined;
}
