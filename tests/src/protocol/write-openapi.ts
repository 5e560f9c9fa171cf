import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, Service } from '../../harness/service/service.ts';

/** Writes the document that the service serves. openapi.test.ts fails if the committed file differs from it. */
const service = await Service.start();
const response = await fetch(`${service.baseUrl}/openapi.json`);
writeFileSync(join(root, 'openapi.json'), await response.text());
await service.end();
