// The program of a process that writes one suspect. Its events go to the service, which stores the reply.
import type { ModelSettings } from './compose-model.ts';
import { serveReply } from './generation/isolation/serve-reply.ts';

serveReply<ModelSettings>(async (...task) => (await import('./compose-model.ts')).createModel(...task));
