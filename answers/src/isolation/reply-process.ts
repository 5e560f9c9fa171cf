// The program of a process that writes one suspect. Its events go to the service, which stores the reply.
import type { ModelSettings } from '../create-model.ts';
import { serveReply } from './serve-reply.ts';

serveReply<ModelSettings>(async (...task) => (await import('../create-model.ts')).createModel(...task));
