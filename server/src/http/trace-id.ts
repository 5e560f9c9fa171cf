import { randomUUID } from 'node:crypto';

const timeDigits = 12;

let lastMs = -1;
let start = '';

/**
 * A UUID of version 7 (RFC 9562), which begins with the time: the requests of one moment are neighbours in the indexes of
 * the request log. With random ids, each request would change another page of the store.
 */
export function createTraceId(): string {
  const now = Date.now();
  if (now !== lastMs) {
    lastMs = now;
    const time = now.toString(16).padStart(timeDigits, '0');
    start = `${time.slice(0, 8)}-${time.slice(8)}-7`;
  }
  return start + randomUUID().slice(start.length);
}
