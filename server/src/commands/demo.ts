import { addMember } from '../usecases/add-member.ts';
import type { Context } from '../usecases/context.ts';
import { createApiKey } from '../usecases/create-api-key.ts';
import { createOrganization } from '../usecases/create-organization.ts';

/** On an empty store: something to try at once. Answers the demo's key, the only time it is known. */
export async function makeDemo(context: Context): Promise<string | undefined> {
  const organizations = await context.store.listOrganizations();
  if (organizations.length > 0) return undefined;
  const organizationId = await createOrganization(context, { name: 'Demo' });
  const userId = await addMember(context, organizationId, { email: 'admin@demo.example', role: 'admin' });
  const { key } = await createApiKey(context, organizationId, { userId, name: 'Demo' });
  return key;
}

export function demoGreeting(key: string, baseUrl: string): string {
  return `
Skein is ready, with a demo organization. This key is shown only now:

  ${key}

Ask something:

  curl -s ${baseUrl}/api/v1/threads -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"prompt":"What is a skein?"}'

The API reference is at ${baseUrl}/docs
`;
}
