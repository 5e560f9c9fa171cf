// The program of a process that writes one suspect. Its events go to the service, which stores the reply.

import { serveReply } from '../isolation/serve-reply.ts';
import type { ModelSettings } from './create-model.ts';

serveReply<ModelSettings>(async (...task) => (await import('./create-model.ts')).createModel(...task));
