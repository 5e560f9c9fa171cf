import type { ApplicationId, KeyId, OrganizationId, UserId } from '../../domain/id.ts';
import type { Admission, Admissions } from '../store.ts';
import { keyIsLive } from './api-keys.ts';
import type { Database, Statement } from './database.ts';
import { nowText } from './store-time.ts';

interface AdmissionRow {
  organization_id: OrganizationId;
  user_id: UserId | null;
  credential_id: KeyId | ApplicationId;
  api_enabled: boolean;
  daily_quota: number;
  used_before: number | null;
}

/** Requests with one credential that arrived in the same turn: one statement admits them all. */
interface Together {
  count: number;
  readonly row: Promise<AdmissionRow | undefined>;
}

/**
 * Who it is, and the quota taken for it, in one statement. The row of the day is locked first and read then, as the
 * latest commit left it. A credential that is none, or whose organization is out of the beta, takes nothing.
 */
function admitText(holder: string): string {
  return `WITH holder AS (${holder}
    ), before AS (
      SELECT used FROM quota_use JOIN holder USING (organization_id) WHERE day = $1 AND api_enabled
      FOR UPDATE OF quota_use
    ), taken AS (
      UPDATE quota_use SET used = greatest(before.used, least(before.used + $2, daily_quota)) FROM before, holder
      WHERE quota_use.organization_id = holder.organization_id AND day = $1 RETURNING before.used AS used_before
    )
    SELECT holder.*, used_before, set_config('synchronous_commit', 'off', true) FROM holder LEFT JOIN taken ON true`;
}

const admitKey = {
  name: 'admit-key',
  text: admitText(`SELECT organization_id, user_id, api_key.id AS credential_id, api_enabled, daily_quota
    FROM api_key JOIN organization ON organization.id = organization_id
    WHERE hash = $3 AND ${keyIsLive(nowText('$4', '$5'))}`),
};
const admitApplication = {
  name: 'admit-application',
  text: admitText(`SELECT organization_id, NULL::text AS user_id, application.id AS credential_id, api_enabled, daily_quota
    FROM application JOIN organization ON organization.id = organization_id
    WHERE application.id = $3 AND organization_id = $4 AND epoch = $5 AND deleted_at IS NULL`),
};

const beginDay = {
  name: 'begin-day',
  text: `INSERT INTO quota_use (organization_id, day, used) SELECT id, $2, 0 FROM organization WHERE id = $1
    ON CONFLICT DO NOTHING`,
};

export function postgresAdmissions({ run, time }: Database): Admissions {
  const together = new Map<string, Together>();

  async function take(statement: Statement, day: number, count: number, credential: unknown[]) {
    const at = statement === admitKey ? time.parameters() : [];
    const values = [day, count, ...credential, ...at];
    const [row] = await run<AdmissionRow>(statement, values);
    if (row === undefined || !row.api_enabled || row.used_before !== null) return row;
    // The organization's first request of the day.
    await run(beginDay, [row.organization_id, day]);
    return (await run<AdmissionRow>(statement, values))[0];
  }

  async function admit(
    statement: Statement,
    day: number,
    credential: unknown[],
  ): Promise<Admission | undefined> {
    const name = `${day} ${credential.join(' ')}`;
    let batch = together.get(name);
    if (batch === undefined) {
      const fresh: Together = {
        count: 0,
        row: new Promise((resolve, reject) => {
          setImmediate(() => {
            together.delete(name);
            take(statement, day, fresh.count, credential).then(resolve, reject);
          });
        }),
      };
      together.set(name, fresh);
      batch = fresh;
    }
    batch.count += 1;
    const place = batch.count;
    return toAdmission(await batch.row, place);
  }

  return {
    admitKey: (hash, day) => admit(admitKey, day, [hash]),
    admitApplication: (organizationId, applicationId, epoch, day) =>
      admit(admitApplication, day, [applicationId, organizationId, epoch]),
  };
}

/** `place` counts from 1 those that were admitted together. */
function toAdmission(row: AdmissionRow | undefined, place: number): Admission | undefined {
  if (row === undefined) return undefined;
  const { organization_id: organizationId, user_id: userId, credential_id: credentialId } = row;
  if (!row.api_enabled || row.used_before === null) {
    return { organizationId, userId, credentialId, use: undefined };
  }
  const left = row.daily_quota - row.used_before;
  const use = { granted: place <= left, limit: row.daily_quota, remaining: Math.max(0, left - place) };
  return { organizationId, userId, credentialId, use };
}
