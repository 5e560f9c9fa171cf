import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Initiator } from '../domain/audit.ts';
import type { OperatorAuthority } from '../domain/authority.ts';
import { UnreadableDocument } from '../domain/document.ts';
import type { OrganizationId, UserId } from '../domain/id.ts';
import type { Keys } from '../usecases/credentials/api-keys.ts';
import type { Documents } from '../usecases/documents/documents.ts';
import type { AuditLog } from '../usecases/organization/audit-log.ts';
import type { Organizations } from '../usecases/organization/organization.ts';
import type { Members } from '../usecases/people/members.ts';

const demoFolder = join(import.meta.dirname, '../../demo');

const organizationName = 'Demo';
const adminEmail = 'admin@demo.example';

interface DemoNeeds {
  readonly organizations: Pick<Organizations, 'list' | 'create'>;
  readonly members: Pick<Members, 'list' | 'add' | 'invite'>;
  readonly keys: Pick<Keys, 'list' | 'create'>;
  readonly documents: Pick<Documents, 'add'>;
  readonly audit: Pick<AuditLog, 'list'>;
}

/**
 * Fills an empty store with a demo organization, or finishes one whose process ended before it had made the key. Returns
 * what to tell its admin; undefined for any other store, and while another process has the `lock` to do the same.
 */
export async function makeDemo(
  useCases: DemoNeeds,
  initiator: Initiator<OperatorAuthority>,
  baseUrl: string,
  lock: () => (() => void) | undefined,
): Promise<string | undefined> {
  if ((await findStart(useCases)) === undefined) return undefined;
  const unlock = lock();
  if (unlock === undefined) return undefined;
  try {
    const start = await findStart(useCases);
    return start && (await completeDemo(useCases, initiator, start, baseUrl));
  } finally {
    unlock();
  }
}

/** The parts of an unfinished demo that exist: its admin has not signed in, and there is no key yet. */
interface DemoStart {
  readonly organizationId?: OrganizationId;
  readonly userId?: UserId;
}

async function findStart(useCases: DemoNeeds): Promise<DemoStart | undefined> {
  const { organizations, members, keys, audit } = useCases;
  const [first, ...others] = await organizations.list();
  if (first === undefined) return {};
  if (first.name !== organizationName || others.length > 0) return undefined;
  const [admin, ...colleagues] = await members.list(first.id);
  if (admin === undefined) {
    const { events } = await audit.list(first.id, { limit: 2 });
    // Not an organization of this name that the operator created.
    const isOurs = events.length === 1 && events[0]!.actor.kind === 'skein';
    return isOurs ? { organizationId: first.id } : undefined;
  }
  const isUntouched =
    admin.email === adminEmail &&
    admin.state !== 'active' &&
    colleagues.length === 0 &&
    (await keys.list(first.id, 'all')).length === 0;
  return isUntouched ? { organizationId: first.id, userId: admin.userId } : undefined;
}

async function completeDemo(
  { organizations, members, keys, documents }: DemoNeeds,
  initiator: Initiator<OperatorAuthority>,
  start: DemoStart,
  baseUrl: string,
): Promise<string> {
  const creator = { ...initiator, authority: { kind: 'skein' } } as const;
  const organizationId =
    start.organizationId ?? (await organizations.create(creator, { name: organizationName }));
  const change = { organizationId, initiator };
  const { userId, invitation } =
    start.userId === undefined
      ? await members.add(change, { email: adminEmail, role: 'admin' })
      : { userId: start.userId, invitation: await members.invite(change, start.userId) };
  for (const name of readdirSync(demoFolder).sort()) {
    const path = join(demoFolder, name);
    await documents.add(change, { name, path, accountId: null }).catch((error) => {
      // The configured limits may be too small for the demo documents. The service starts anyway.
      if (!(error instanceof UnreadableDocument)) throw error;
    });
  }
  const { key } = await keys.create(change, { userId, name: 'Demo' });
  return greeting(invitation?.link ?? '', key, baseUrl);
}

/** For an empty store that others can reach: it creates no credentials. */
export const firstSteps = `
Skein is ready and has no organizations yet. Create the first one with an admin and a key, using this service's settings:

  npx skein org create Example
  npx skein member add Example you@example.com --role admin
  npx skein key create Example --user you@example.com

'member add' prints the admin's sign-in link.
`;

function greeting(link: string, key: string, baseUrl: string): string {
  return `
Skein is ready with a demo organization. Open this link in a browser to choose a password; it works once:

  ${link}

Or use this API key, which is not shown again:

  ${key}

Ask a question:

  curl -s ${baseUrl}/api/v1/threads -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"prompt":"What is a skein?"}'

Then read the answer; replace THREAD_ID with the id of the thread:

  curl -s ${baseUrl}/api/v1/threads/THREAD_ID -H 'Authorization: Bearer ${key}' -H 'Prefer: wait=20'

The answer comes from the demo documents. Add your own with 'npx skein doc add Demo FILE'. Documentation: ${baseUrl}/docs
`;
}
