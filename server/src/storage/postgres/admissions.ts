import { keyIsLive } from '../sql/api-keys.ts';
import { type Sql, type Statement, sql, statement, type Values } from '../sql/sql.ts';
import type { Admission, Admissions } from '../store.ts';
import type { Database } from './database.ts';

type AdmissionRow = Omit<Admission, 'use'> & {
  apiEnabled: boolean;
  dailyQuota: number;
  usedBefore: number | null;
};

/** Requests with the same credential that arrived in the same turn of the event loop: one statement admits them all. */
interface Batch {
  count: number;
  readonly row: Promise<AdmissionRow | undefined>;
}

/**
 * Checks the credential and takes from the quota in one statement. The row of the day is locked before it is read, so
 * that it is read as the latest commit left it. An invalid credential, or one of a disabled organization, takes nothing.
 */
const admit = (holder: Sql) => sql`WITH holder AS (${holder}
  ), before AS (
    SELECT used FROM quota_use JOIN holder USING (organization_id) WHERE day = :day AND api_enabled
    FOR UPDATE OF quota_use
  ), taken AS (
    UPDATE quota_use SET used = greatest(before.used, least(before.used + :count, daily_quota)) FROM before, holder
    WHERE quota_use.organization_id = holder.organization_id AND day = :day RETURNING before.used AS used_before
  )
  SELECT organization_id AS "organizationId", user_id AS "userId", credential_id AS "credentialId",
    api_enabled AS "apiEnabled", daily_quota AS "dailyQuota", used_before AS "usedBefore",
    set_config('synchronous_commit', 'off', true)
  FROM holder LEFT JOIN taken ON true`;

const admitKey = statement('admit-key')`${admit(sql`
    SELECT organization_id, user_id, api_key.id AS credential_id, api_enabled, daily_quota
    FROM api_key JOIN organization ON organization.id = organization_id WHERE hash = :hash AND ${keyIsLive}`)}`;
const admitApplication = statement('admit-application')`${admit(sql`
    SELECT organization_id, NULL::text AS user_id, application.id AS credential_id, api_enabled, daily_quota
    FROM application JOIN organization ON organization.id = organization_id
    WHERE application.id = :applicationId AND organization_id = :organizationId AND epoch = :epoch
      AND deleted_at IS NULL`)}`;
const startDay = statement('begin-day')`INSERT INTO quota_use (organization_id, day, used)
  SELECT id, :day, 0 FROM organization WHERE id = :organizationId ON CONFLICT DO NOTHING`;

export function postgresAdmissions({ run }: Database): Admissions {
  const batches = new Map<string, Batch>();

  async function take(admission: Statement, values: Values & { day: number }) {
    const [row] = await run<AdmissionRow>(admission, values);
    if (row === undefined || !row.apiEnabled || row.usedBefore !== null) return row;
    // The organization's first request of the day.
    await run(startDay, { organizationId: row.organizationId, day: values.day });
    return (await run<AdmissionRow>(admission, values))[0];
  }

  async function admitTogether(
    admission: Statement,
    values: Values & { day: number },
  ): Promise<Admission | undefined> {
    const credential = Object.values(values).join(' ');
    let batch = batches.get(credential);
    if (batch === undefined) {
      const fresh: Batch = {
        count: 0,
        row: new Promise((resolve, reject) => {
          setImmediate(() => {
            batches.delete(credential);
            take(admission, { ...values, count: fresh.count }).then(resolve, reject);
          });
        }),
      };
      batches.set(credential, fresh);
      batch = fresh;
    }
    batch.count += 1;
    const place = batch.count;
    return toAdmission(await batch.row, place);
  }

  return {
    admitKey: (hash, day) => admitTogether(admitKey, { hash, day }),
    admitApplication: (organizationId, applicationId, epoch, day) =>
      admitTogether(admitApplication, { applicationId, organizationId, epoch, day }),
  };
}

/** `place` is the position in the batch, from 1. */
function toAdmission(row: AdmissionRow | undefined, place: number): Admission | undefined {
  if (row === undefined) return undefined;
  const { organizationId, userId, credentialId, apiEnabled, dailyQuota, usedBefore } = row;
  if (!apiEnabled || usedBefore === null) return { organizationId, userId, credentialId, use: undefined };
  const left = dailyQuota - usedBefore;
  const use = { granted: place <= left, limit: dailyQuota, remaining: Math.max(0, left - place) };
  return { organizationId, userId, credentialId, use };
}
