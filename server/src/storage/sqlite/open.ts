import type { Store, StoreWatch } from '../store.ts';
import { WriteHealth } from '../write-health.ts';
import { sqliteAccounts } from './accounts.ts';
import { sqliteAdmissions } from './admissions.ts';
import { sqliteApiKeys } from './api-keys.ts';
import { sqliteApplications } from './applications.ts';
import { sqliteAudits } from './audit.ts';
import { CommitQueue, type MachineClock, machineClock } from './commit-queue.ts';
import { openDatabase } from './database.ts';
import { diagnose } from './diagnose.ts';
import { DiskGuard } from './disk-guard.ts';
import { sqliteDocuments } from './documents.ts';
import { sqliteInvitations } from './invitations.ts';
import { sqliteKeyRequests } from './key-requests.ts';
import { sqliteMembers } from './members.ts';
import { sqliteOrganizations } from './organizations.ts';
import { sqlitePurges } from './purge.ts';
import { sqliteReplies } from './replies.ts';
import { sqliteRetention } from './retention.ts';
import { sqliteSessions } from './sessions.ts';
import { sqliteSigningKeys } from './signing-keys.ts';
import { sqliteThreads } from './threads.ts';
import { sqliteUsages } from './usage.ts';
import { sqliteWalks } from './walks.ts';
import { createWorkerLock } from './worker-lock.ts';

/** The embedded store: one file and one connection. One process serves it; the operator's commands may run besides. */
export function openSqliteStore(file: string, clock: MachineClock = machineClock, watch?: StoreWatch): Store {
  const database = openDatabase(file);
  const health = new WriteHealth(watch);
  const guard = new DiskGuard(file, health);
  const commits = new CommitQueue(database, clock, guard);
  const workerLock = createWorkerLock(file);
  const keepSecret = database.prepare<[string, Uint8Array]>(
    'INSERT INTO secret (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const readSecret = database.prepare<[string], Buffer>('SELECT value FROM secret WHERE name = ?').pluck();
  const ping = database.prepare('SELECT latest_at FROM store_clock');

  const apiKeys = sqliteApiKeys(database, commits);
  const applications = sqliteApplications(database, commits);

  return {
    ...sqliteOrganizations(database, commits),
    ...sqliteMembers(database, commits),
    ...sqliteAccounts(database, commits),
    ...sqliteInvitations(database, commits),
    ...sqliteSessions(database, commits),
    ...apiKeys,
    ...sqliteKeyRequests(database, commits),
    ...applications,
    ...sqliteSigningKeys(database, commits),
    ...sqliteAdmissions(database, commits, apiKeys, applications),
    ...sqliteThreads(database, commits),
    ...sqliteWalks(database, commits),
    ...sqliteReplies(database, commits, workerLock),
    ...sqliteDocuments(database, commits),
    ...sqliteAudits(database, commits),
    ...sqliteUsages(database, commits),
    ...sqliteRetention(database, commits),
    ...sqlitePurges(database, commits),

    secret: (name, candidate) =>
      commits.durable(() => {
        keepSecret.run(name, candidate);
        return readSecret.get(name)!;
      }),

    async ping() {
      guard.assertInPlace();
      // Any change will do, but it has to be one: SQLite does not write unchanged pages.
      if (health.failure !== undefined) await commits.durable((clock) => clock.after());
      else ping.get();
    },

    connections: () => undefined,

    clockAheadMs: async () => commits.aheadMs(),

    diagnose: async () => diagnose(database, clock.wall),

    async close() {
      commits.flush();
      database.close();
      guard.close();
      workerLock.release();
    },
  };
}
