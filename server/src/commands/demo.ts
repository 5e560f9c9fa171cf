import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { UnreadableDocument } from '../domain/document.ts';
import { invitationLink } from '../domain/sign-in-token.ts';
import { createApiKey } from '../usecases/credentials/api-keys.ts';
import { addDocument } from '../usecases/documents/add-document.ts';
import { operatorInitiator } from '../usecases/organization/audit-log.ts';
import { createOrganization } from '../usecases/organization/organization.ts';
import { addMember } from '../usecases/people/members.ts';
import type { SurfaceContext } from '../usecases/surface-context.ts';

const demoFolder = join(import.meta.dirname, '../../demo');

/** What opens the demo, known only when it is made. */
export interface Demo {
  readonly key: string;
  /** Of its admin. */
  readonly invitationToken: string;
}

/** For an empty store: something to try at once. */
export async function makeDemo(context: SurfaceContext): Promise<Demo> {
  const initiator = operatorInitiator(context);
  const organizationId = await createOrganization(context, initiator, { name: 'Demo' });
  const admin = { email: 'admin@demo.example', role: 'admin' } as const;
  const { userId, invitation } = await addMember(context, organizationId, initiator, admin);
  for (const name of readdirSync(demoFolder).sort()) {
    const source = { path: join(demoFolder, name) };
    await addDocument(context, organizationId, initiator, { name, source, accountId: null }).catch(
      (error) => {
        // The operator's limits may be too small for the demo. The service starts all the same.
        if (!(error instanceof UnreadableDocument)) throw error;
      },
    );
  }
  const { key } = await createApiKey(context, organizationId, initiator, { userId, name: 'Demo' });
  return { key, invitationToken: invitation?.token ?? '' };
}

/** For an empty store that others can reach: no credentials are made unasked. */
export const firstSteps = `
Skein is ready, and has no organization yet. Create the first one, its admin and a key, with the settings of this service:

  npx skein org create Example
  npx skein member add Example you@example.com --role admin
  npx skein key create Example --user you@example.com

'member add' prints the link for the admin to sign in with.
`;

export function demoGreeting({ key, invitationToken }: Demo, baseUrl: string): string {
  return `
Skein is ready, with a demo organization. Open it in a browser; this link is good once, and lets you choose a password:

  ${invitationLink(baseUrl, invitationToken)}

Or use its API key, which is shown only now:

  ${key}

Ask something:

  curl -s ${baseUrl}/api/v1/threads -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"prompt":"What is a skein?"}'

Then read the answer, with the thread's id from there in the place of THREAD_ID:

  curl -s ${baseUrl}/api/v1/threads/THREAD_ID -H 'Authorization: Bearer ${key}' -H 'Prefer: wait=20'

It comes from the demo's documents; 'npx skein doc add Demo FILE' adds yours. The documentation is at ${baseUrl}/docs
`;
}
