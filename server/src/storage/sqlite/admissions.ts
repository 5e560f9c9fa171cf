import type { OrganizationId } from '../../domain/id.ts';
import { quotaUse } from '../../domain/organization.ts';
import type { Admission, Admissions, ApiKeys, Applications } from '../port/store.ts';
import { findApplicationGrant } from '../sql/applications.ts';
import { findKeyGrant } from '../sql/authority.ts';
import { readQuota } from '../sql/requests.ts';
import { sqliteStatement } from '../sql/sql.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import { positioned, sqliteText, workRunner } from './transactions.ts';
import type { WatchedCache } from './watched-cache.ts';

const findEndless = sqliteStatement('find-endless-key')`
  SELECT 1 FROM api_key WHERE hash = :hash AND revoked_at IS NULL`;
const addToQuota = sqliteStatement('add-to-quota')`
  INSERT INTO quota_use (organization_id, day, used) VALUES (:organizationId, :day, :granted)
  ON CONFLICT DO UPDATE SET used = used + excluded.used`;

/** A request to be admitted. `findOwner` returns undefined if the credential is not valid. */
interface Arrival {
  readonly findOwner: () => (Omit<Admission, 'use'> & { readonly apiEnabled: boolean }) | undefined;
  readonly day: number;
}

/** The requests of one organization and day within a transaction. */
interface Tally {
  readonly organizationId: OrganizationId;
  readonly day: number;
  readonly used: number;
  readonly limit: number;
  requests: number;
}

/** Requests that arrived in the same turn of the event loop. */
interface Batch {
  readonly arrivals: Arrival[];
  readonly admissions: Promise<(Admission | undefined)[]>;
}

/** Admits the requests of one turn of the event loop in one transaction. Their counts need no sync. */
export function sqliteAdmissions(
  database: Database,
  commits: CommitQueue,
  cache: WatchedCache,
): Admissions & Pick<ApiKeys & Applications, 'findKeyGrant' | 'findApplicationGrant'> {
  const isEndless = database.prepare<[string]>(positioned(findEndless).text);
  const runWork = workRunner(database, commits);
  // A key that was rotated ends by the clock, without a write.
  const mayKeep = (hash: string) => isEndless.get(hash) !== undefined;
  const keys = grantReader(cache, (hash) => runWork(findKeyGrant(hash)), mayKeep);
  const applications = grantReader(cache, (id) => runWork(findApplicationGrant(id)));
  const readUse = database.prepare<[object], { used: number; limit: number }>(sqliteText(readQuota));
  const addUse = database.prepare<[object]>(sqliteText(addToQuota));
  let waiting: Batch | undefined;

  /** Reads each organization's count once in a transaction. */
  function getTally(tallies: Tally[], organizationId: OrganizationId, day: number): Tally {
    const known = tallies.find((tally) => tally.organizationId === organizationId && tally.day === day);
    if (known !== undefined) return known;
    const use = readUse.get({ organizationId, day }) ?? { used: 0, limit: 0 };
    const tally = { ...use, organizationId, day, requests: 0 };
    tallies.push(tally);
    return tally;
  }

  function admitAll(arrivals: readonly Arrival[]): (Admission | undefined)[] {
    cache.confirmForTurn();
    const tallies: Tally[] = [];
    const admissions = arrivals.map(({ findOwner, day }) => {
      const owner = findOwner();
      if (owner === undefined) return undefined;
      const { organizationId, userId, credentialId, apiEnabled } = owner;
      if (!apiEnabled) return { organizationId, userId, credentialId, use: undefined };
      const tally = getTally(tallies, organizationId, day);
      tally.requests += 1;
      const use = quotaUse(tally.limit, tally.used + tally.requests);
      return { organizationId, userId, credentialId, use };
    });
    for (const { organizationId, day, used, limit, requests } of tallies) {
      const granted = Math.min(requests, limit - used);
      if (granted > 0) addUse.run({ organizationId, day, granted });
    }
    return admissions;
  }

  function openBatch(): Batch {
    const arrivals: Arrival[] = [];
    const close = () => {
      waiting = undefined;
    };
    const admissions = commits.unsynced(() => {
      close();
      return admitAll(arrivals);
    });
    // If the commit fails before this write runs, later requests must not join the failed batch.
    admissions.catch(close);
    return { arrivals, admissions };
  }

  async function admit(findOwner: Arrival['findOwner'], day: number): Promise<Admission | undefined> {
    waiting ??= openBatch();
    const { arrivals, admissions } = waiting;
    const place = arrivals.push({ findOwner, day }) - 1;
    return (await admissions)[place];
  }

  return {
    // A credential that is not valid is refused without a transaction.
    async admitKey(hash, day) {
      if (!cache.has(hash) && keys.find(hash) === undefined) return undefined;
      return admit(() => {
        const grant = keys.findInTransaction(hash);
        return grant && { ...grant, credentialId: grant.keyId };
      }, day);
    },

    async admitApplication(organizationId, applicationId, epoch, day) {
      if (!cache.has(applicationId) && applications.find(applicationId) === undefined) return undefined;
      return admit(() => {
        const grant = applications.findInTransaction(applicationId);
        if (grant?.organizationId !== organizationId || grant.epoch !== epoch) return undefined;
        return { ...grant, userId: null, credentialId: applicationId };
      }, day);
    },

    findKeyGrant: async (hash) => keys.find(hash),
    findApplicationGrant: async (applicationId) => applications.find(applicationId),
  };
}

/** What a grant takes in memory, with its name. */
const grantMemory = 1024;

/** Grants that have not changed are not read again. */
function grantReader<Grant extends object>(
  cache: WatchedCache,
  read: (name: string) => Grant | undefined,
  mayKeep: (name: string) => boolean = () => true,
) {
  return {
    find(name: string): Grant | undefined {
      const kept = cache.get<Grant>(name);
      if (kept !== undefined) return kept;
      const grant = read(name);
      return grant && mayKeep(name) ? cache.set(name, grant, grantMemory) : grant;
    },

    /** Keeps nothing, because the transaction may be rolled back. */
    findInTransaction: (name: string): Grant | undefined => cache.get<Grant>(name) ?? read(name),
  };
}
