import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import { Connection } from './connection.ts';

/** An upload may take this many times as long as other requests: 50 MB in ten minutes, or 90 kB per second. */
const uploadTimeFactor = 20;

/** Gives the body of this request the time limit of uploads. Call it once the caller is known to be allowed to upload. */
export function allowSlowBody({ socket }: IncomingMessage): void {
  if (socket instanceof Connection) socket.restartTimeLimit(uploadTimeFactor);
}

/** Measures the usual time limit of this body from now. */
export function restartTimeLimit({ socket }: IncomingMessage): void {
  if (socket instanceof Connection) socket.restartTimeLimit();
}

/** For `Expect: 100-continue`: tells the caller to send its body (RFC 9110 §10.1.1), unless it is too large. */
export function askForBody({ request, raw: response }: FastifyReply): void {
  const { bodyLimit = Number.POSITIVE_INFINITY } = request.routeOptions;
  const { 'content-length': length = 0 } = request.headers;
  if (request.raw.httpVersion === '1.1' && Number(length) <= bodyLimit) response.writeContinue();
}
