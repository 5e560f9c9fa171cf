import type { Socket } from 'node:net';

/** A peer that sends nothing for this long after the last response has read it, or never will. */
const lingerSilenceMs = 2000;
/** More than the largest accepted body, so that a client that writes its whole body first can still read the response. */
const lingerBytesMax = 64 * 1024 * 1024;
/** Long enough for a peer to read its response and disconnect before the rest of its body is read. */
const drainEveryMs = 1;

/**
 * Closes our side once the response is sent. Incoming data has to be discarded until the peer closes its side or the time is
 * up: call what this returns whenever some has arrived. Closing both sides while data arrives would reset the connection,
 * and the peer could lose the response.
 */
export function closeInOrder(socket: Socket, lingerMs: number): () => void {
  const destroy = () => socket.destroy();
  const bytesMax = socket.bytesRead + lingerBytesMax;
  const startTimers = () => {
    socket.setTimeout(lingerSilenceMs, destroy);
    const limit = setTimeout(destroy, lingerMs).unref();
    socket.once('close', () => clearTimeout(limit));
  };
  if (socket.writableFinished) startTimers();
  else socket.once('finish', startTimers).end();
  socket.resume();
  return () => {
    if (socket.bytesRead > bytesMax) destroy();
    else readInTurn(socket.pause());
  };
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
