import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../domain/errors.ts';

/** How many lines of that name were sent; Node's own view keeps only one of them. */
export function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index] as string;
    if (sent.length === name.length && sent.toLowerCase() === name) count += 1;
  }
  return count;
}

/** What two parties could read in two ways is refused (RFC 9112 §3.2, §6.1). */
export function refuseAmbiguousRequest(request: IncomingMessage): void {
  const hosts = countHeader(request, 'host');
  if (hosts > 1 || (hosts === 0 && request.httpVersion === '1.1')) {
    throw new ServiceError('INVALID_PARAMS', 'Host: must be sent once.');
  }
  const coding = request.headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw new ServiceError('INVALID_PARAMS', 'Transfer-Encoding: must be chunked or absent.');
  }
}
