// The reply engine: claims replies, writes them under a lease, settles them, sweeps what died, and signals their end.
export type { Model, ModelFailure, ReplyEvent, ReplyRequest } from './model.ts';
export { ReplySignals, relaySignals } from './reply-signals.ts';
export { reportEnded } from './report-replies.ts';
export { keepTending, tendReplies } from './tend-replies.ts';
export { type Models, ReplyWorker, type WorkerNeeds, type WorkerSettings } from './worker.ts';
