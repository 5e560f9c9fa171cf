import { setBounded } from '../../../../runtime/src/pure/set-bounded.ts';
import type { OrganizationId } from '../../domain/id.ts';
import { quotaUse } from '../../domain/organization.ts';
import type { Admission, Admissions } from '../port/store.ts';
import { keyIsLive } from '../sql/authority.ts';
import { callColumns, postgresStatement, type Values } from '../sql/sql.ts';
import { callsLocking, callsWith, type Database } from './database.ts';

type AdmissionRow = Omit<Admission, 'use'> & {
  apiEnabled: boolean;
  dailyQuota: number;
  /** The number of the group's first request among those of its organization and day, from 1; null if that day has no row yet. */
  number: number | null;
};

type Credential = Values & { readonly day: number };

/** Requests with one credential that wait for the same batch, which admits them together. */
interface Group {
  readonly values: Credential & { requests: number };
  readonly admission: Promise<AdmissionRow | undefined>;
}

/** `known`: the highest number of a request of that organization and day that this node knows of. */
const columns = callColumns({
  text: 'keyHash applicationId organizationId',
  bigint: 'day epoch known requests',
});

/**
 * Checks credentials and takes from quotas. The row of a day is locked before it is read, so that it is read as the latest
 * commit left it, and rows in the order of their keys, so that two nodes cannot deadlock. An invalid credential, or one of a
 * disabled organization, takes nothing. Counts are committed without a sync: after a crash of the database server, a count
 * continues from the highest number that its node knows of.
 */
const admit = postgresStatement('admit')`WITH call AS (
    SELECT * FROM ${callsLocking(columns)}
  ), holder AS (
    SELECT ordinal, day, known, requests, api_key.organization_id, api_key.user_id, api_key.id AS credential_id
    FROM call JOIN api_key ON hash = key_hash AND ${keyIsLive}
    UNION ALL
    SELECT ordinal, day, known, requests, application.organization_id, NULL, application.id
    FROM call JOIN application ON application.id = call.application_id
      AND application.organization_id = call.organization_id AND application.epoch = call.epoch
  ), request AS (
    SELECT holder.*, api_enabled, daily_quota FROM holder JOIN organization ON organization.id = organization_id
  ), due AS (
    SELECT organization_id, day, daily_quota, sum(requests)::bigint AS requests, max(known) AS known FROM request
    WHERE api_enabled GROUP BY organization_id, day, daily_quota
  ), before AS (
    SELECT due.*, greatest(used, known) AS used FROM due JOIN quota_use USING (organization_id, day)
    ORDER BY organization_id, day FOR UPDATE OF quota_use
  ), taken AS (
    UPDATE quota_use SET used = greatest(before.used, least(before.used + requests, daily_quota)) FROM before
    WHERE quota_use.organization_id = before.organization_id AND quota_use.day = before.day
    RETURNING before.organization_id, before.day, before.used AS used_before
  )
  SELECT ordinal, organization_id AS "organizationId", user_id AS "userId", credential_id AS "credentialId",
    api_enabled AS "apiEnabled", daily_quota AS "dailyQuota",
    (used_before + 1 - requests + sum(requests) OVER (PARTITION BY organization_id, day ORDER BY ordinal))::bigint AS number,
    (SELECT set_config('synchronous_commit', 'off', true))
  FROM request LEFT JOIN taken USING (organization_id, day)`;
const ownerColumns = callColumns({ text: 'keyHash' });
const findOwner = postgresStatement('find-owner-of-key')`
  SELECT ordinal, organization_id AS "organizationId" FROM ${callsWith(ownerColumns)} JOIN api_key ON hash = key_hash`;
const dayColumns = callColumns({ text: 'organizationId', bigint: 'day' });
const startDay = postgresStatement('begin-day')`INSERT INTO quota_use (organization_id, day, used)
  SELECT id, day, 0 FROM ${callsLocking(dayColumns)} JOIN organization ON organization.id = organization_id
  ORDER BY id, day ON CONFLICT DO NOTHING`;

/** How many owners of keys, which never change, and how many counts of organizations a node caches. */
const rememberedMax = 10_000;

export function postgresAdmissions(database: Database): Admissions {
  const owners = new Map<unknown, OrganizationId>();
  const counts = new Map<unknown, { readonly day: number; readonly number: number }>();
  /** The groups that still accept requests. */
  const groups = new Map<string, Group>();
  const findOwners = database.batched<{ organizationId: OrganizationId }>(findOwner, ownerColumns, {
    batchesMax: 2,
  });
  const batchAdmissions = database.batched<AdmissionRow>(admit, columns, {
    batchesMax: 2,
    // What arrives later must be checked by a later statement.
    beforeSend(values) {
      groups.delete(toName(values));
      Object.assign(values, { known: knownCount(values.organizationId, values.day) });
    },
  });
  const batchDays = database.batched(startDay, dayColumns, { batchesMax: 1 });

  function knownCount(organizationId: unknown, day: unknown): number {
    const count = counts.get(organizationId);
    return count !== undefined && count.day === day ? count.number : 0;
  }

  function openGroup(credential: Credential): Group {
    const values = { ...credential, requests: 0 };
    const group = { values, admission: admitGroup(values) };
    groups.set(toName(credential), group);
    return group;
  }

  async function admitGroup(values: Group['values']): Promise<AdmissionRow | undefined> {
    const { day } = values;
    const [row] = await batchAdmissions(values);
    if (row === undefined) return undefined;
    const { organizationId, apiEnabled, dailyQuota, number } = row;
    if (number === null && apiEnabled) {
      // The organization's first requests of the day.
      await batchDays({ organizationId, day });
      return admitGroup(values);
    }
    if (number !== null && number <= dailyQuota) {
      const last = Math.min(number + values.requests - 1, dailyQuota);
      const known = Math.max(last, knownCount(organizationId, day));
      setBounded(counts, organizationId, { day, number: known }, rememberedMax);
    }
    return row;
  }

  async function take(credential: Credential): Promise<Admission | undefined> {
    const group = groups.get(toName(credential)) ?? openGroup(credential);
    const offset = group.values.requests;
    group.values.requests += 1;
    const row = await group.admission;
    if (row === undefined) return undefined;
    const { organizationId, userId, credentialId, apiEnabled, dailyQuota, number } = row;
    const use = apiEnabled && number !== null ? quotaUse(dailyQuota, number + offset) : undefined;
    return { organizationId, userId, credentialId, use };
  }

  /** Runs before any lock is taken, so that all keys of an organization whose row is locked wait in one lane. */
  async function readOwner(keyHash: string): Promise<OrganizationId | undefined> {
    const [owner] = await findOwners({ keyHash });
    if (owner !== undefined) setBounded(owners, keyHash, owner.organizationId, rememberedMax);
    return owner?.organizationId;
  }

  return {
    async admitKey(keyHash, day) {
      const organizationId = owners.get(keyHash) ?? (await readOwner(keyHash));
      return organizationId && take({ keyHash, organizationId, applicationId: null, epoch: null, day });
    },
    admitApplication: (organizationId, applicationId, epoch, day) =>
      take({ keyHash: null, organizationId, applicationId, epoch, day }),
  };
}

function toName({ keyHash, applicationId, organizationId, epoch, day }: Values): string {
  return [keyHash, applicationId, organizationId, epoch, day].join(' ');
}
