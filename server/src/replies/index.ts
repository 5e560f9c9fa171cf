// The reply engine: claims replies, writes them under a lease, settles them, sweeps what died, and signals their end.
export { ReplySignals } from './reply-signals.ts';
export { keepTending, relaySignals, reportEnded } from './tend-replies.ts';
export { type Models, ReplyWorker, type WorkerSettings } from './worker.ts';
