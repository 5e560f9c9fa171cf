/** What stands between Fastify and the sockets. Only this folder touches a socket. */
export { joinPieces } from './join-pieces.ts';
export { allowSlowBody, askForBody, restartTimeLimit } from './late-bodies.ts';
export { createListener, type ListenerOptions } from './listener.ts';
export {
  chunksInTurns,
  HeldRequests,
  type Piece,
  type Pieces,
  streamOf,
  whileAdmitted,
  whileConnected,
} from './long-responses.ts';
