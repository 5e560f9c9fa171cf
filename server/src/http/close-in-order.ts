import type { Socket } from 'node:net';

/** A peer that sends nothing for this long after the last response has read it, or never will. */
const lingerSilenceMs = 2000;
/** More than the largest accepted body, so that a client that writes its whole body first can still read the response. */
const lingerBytesMax = 64 * 1024 * 1024;
/** Long enough for a peer to read its response and disconnect before the rest of its body is read. */
const drainEveryMs = 1;

/**
 * Closes our side once the response is sent, and discards incoming data until the peer closes its side or the time is
 * up. Closing both sides while data arrives would reset the connection, and the peer could lose the response.
 */
export function closeInOrder(socket: Socket, lingerMs: number): void {
  const destroy = () => socket.destroy();
  const bytesMax = socket.bytesRead + lingerBytesMax;
  const startTimers = () => {
    socket.setTimeout(lingerSilenceMs, destroy);
    const limit = setTimeout(destroy, lingerMs).unref();
    socket.once('close', () => clearTimeout(limit));
  };
  const discard = () => {
    if (socket.bytesRead > bytesMax) return destroy();
    readInTurn(socket.pause());
  };
  if (socket.writableFinished) startTimers();
  else socket.once('finish', startTimers).end();
  // Node starts reading again when the socket resumes. Only then can a listener replace the HTTP parser.
  socket.once('resume', () => socket.removeAllListeners('data').on('data', discard));
  socket.pause().resume();
}

let draining: Socket[] = [];

/** Reads closing connections one at a time, so that refused bodies delay other requests by one read, however many there are. */
function readInTurn(socket: Socket): void {
  // While it waits for its turn, its silence does not count.
  if (socket.writableFinished) socket.setTimeout(0);
  draining.push(socket);
  if (draining.length === 1) setTimeout(readNext, drainEveryMs).unref();
}

function readNext(): void {
  draining = draining.filter(({ destroyed }) => !destroyed);
  const next = draining.shift()?.resume();
  if (next?.writableFinished) next.setTimeout(lingerSilenceMs);
  if (draining.length > 0) setTimeout(readNext, drainEveryMs).unref();
}
