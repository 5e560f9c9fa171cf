import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addDocument } from '../usecases/add-document.ts';
import { addMember } from '../usecases/add-member.ts';
import type { Context } from '../usecases/context.ts';
import { createApiKey } from '../usecases/create-api-key.ts';
import { createOrganization } from '../usecases/create-organization.ts';

const demoFolder = join(import.meta.dirname, '../../demo');

/** On an empty store: something to try at once. Answers the demo's key, the only time it is known. */
export async function makeDemo(context: Context): Promise<string | undefined> {
  const organizations = await context.store.listOrganizations();
  if (organizations.length > 0) return undefined;
  const organizationId = await createOrganization(context, { name: 'Demo' });
  const userId = await addMember(context, organizationId, { email: 'admin@demo.example', role: 'admin' });
  for (const name of readdirSync(demoFolder).sort()) {
    const bytes = readFileSync(join(demoFolder, name));
    await addDocument(context, organizationId, { name, bytes, accountId: null });
  }
  const { key } = await createApiKey(context, organizationId, { userId, name: 'Demo' });
  return key;
}

export function demoGreeting(key: string, baseUrl: string): string {
  return `
Skein is ready, with a demo organization. This key is shown only now:

  ${key}

Ask something:

  curl -s ${baseUrl}/api/v1/threads -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"prompt":"What is a skein?"}'

Then read the answer, with the thread's id from there in the place of THREAD_ID:

  curl -s ${baseUrl}/api/v1/threads/THREAD_ID -H 'Authorization: Bearer ${key}' -H 'Prefer: wait=20'

It comes from the demo's documents; 'npx skein doc add Demo FILE' adds yours. The API reference is at ${baseUrl}/docs
`;
}
