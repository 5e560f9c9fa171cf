import { renameSync, writeFileSync } from 'node:fs';
import { NotFoundError, Skein, SkeinError, type ThreadRead } from '@skein/client';
import { report } from './report.ts';

const dayMs = 24 * 60 * 60 * 1000;
const { SKEIN_BASE_URL: baseUrl = 'http://127.0.0.1:8080', SKEIN_CLIENT_ID: clientId } = process.env;
const clientSecret = process.env.SKEIN_CLIENT_SECRET;
if (!clientId || !clientSecret) {
  console.error(
    "Set SKEIN_CLIENT_ID and SKEIN_CLIENT_SECRET: 'npx skein app create ORG --name NAME' shows both.",
  );
  process.exit(1);
}

const [file = 'report.md'] = process.argv.slice(2);
const since = new Date(Date.now() - dayMs).toISOString();
const skein = new Skein({ baseUrl, clientId, clientSecret });

try {
  const threads = await activeSince(since);
  // Replaces the report in one step: a report that is cut off looks like a quiet night.
  writeFileSync(`${file}.new`, report(threads, since));
  renameSync(`${file}.new`, file);
  console.log(`${file}: ${threads.length} ${threads.length === 1 ? 'thread' : 'threads'}`);
} catch (error) {
  if (!(error instanceof SkeinError)) throw error;
  console.error(`${error.code}: ${error.message} Trace ID: ${error.traceId ?? 'none'}`);
  process.exitCode = 1;
}

/** The list starts with the most recent activity, so the first thread that is too old ends the loop. */
async function activeSince(time: string): Promise<ThreadRead[]> {
  const found: ThreadRead[] = [];
  for await (const { id, updatedAt, createdAt } of skein.threads.list()) {
    if ((updatedAt ?? createdAt) < time) break;
    const thread = await read(id);
    if (thread !== undefined) found.push(thread);
  }
  return found;
}

async function read(id: string): Promise<ThreadRead | undefined> {
  try {
    return await skein.threads.get(id);
  } catch (error) {
    // Deleted, or no longer published, since it was listed.
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}
