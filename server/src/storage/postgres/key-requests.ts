import type { KeyRequest } from '../../domain/credential.ts';
import type { KeyRequestId, UserId } from '../../domain/id.ts';
import type { KeyRequests } from '../store.ts';
import { addKey, holdIssuer } from './api-keys.ts';
import { auditText, auditValues, writeNote } from './audit.ts';
import type { Database } from './database.ts';
import { now } from './store-time.ts';

interface KeyRequestRow {
  id: KeyRequestId;
  user_id: UserId;
  name: string;
  state: KeyRequest['state'];
  requested_at: number;
  decided_by: UserId | null;
  expires_at: number;
}

/** One request of a member at a time: those that wait are counted once the others have committed. */
const holdMember = {
  name: 'hold-requesting-member',
  text: 'SELECT service FROM member WHERE organization_id = $1 AND user_id = $2 FOR NO KEY UPDATE',
};
const forgetExpired = {
  name: 'forget-expired-key-requests',
  text: `DELETE FROM key_request WHERE organization_id = $3 AND user_id = $4 AND expires_at <= ${now}`,
};
const create = {
  name: 'create-key-request',
  text: `INSERT INTO key_request (organization_id, id, user_id, name, state, requested_at, expires_at)
    SELECT $3, $4, $5, $6, 'pending', at, at + $7::bigint FROM (SELECT ${now} AS at) AS moment
    WHERE $8 > (SELECT count(*) FROM key_request WHERE organization_id = $3 AND user_id = $5 AND state <> 'declined')
    RETURNING id`,
};
const all = {
  name: 'list-key-requests',
  text: `SELECT * FROM key_request WHERE organization_id = $3 AND expires_at > ${now} ORDER BY id`,
};
const decide = {
  name: 'decide-key-request',
  text: `WITH decided AS (
      UPDATE key_request SET state = $5, decided_by = $6, expires_at = at + $7::bigint
      FROM (SELECT ${now} AS at) AS moment
      WHERE organization_id = $3 AND id = $4 AND state = 'pending' AND expires_at > at RETURNING id, at
    ), noted AS (${auditText('decided', '$3', 'at', 8)})
    SELECT id FROM decided`,
};
const use = {
  name: 'use-key-request',
  text: `DELETE FROM key_request
    WHERE organization_id = $3 AND id = $4 AND user_id = $5 AND state = 'approved' AND expires_at > ${now} RETURNING *`,
};

export function postgresKeyRequests(database: Database): KeyRequests {
  const { run, time } = database;
  return {
    createKeyRequest: (organizationId, { id, userId, name, keepMs, waitingMax }, note) =>
      database.transaction(async (runHere) => {
        const [issuer] = await runHere<{ api_enabled: boolean }>(holdIssuer, [organizationId]);
        const [member] = await runHere<{ service: boolean }>(holdMember, [organizationId, userId]);
        if (member?.service !== false) return 'not-a-member';
        if (issuer?.api_enabled !== true) return 'api-disabled';
        await runHere(forgetExpired, [...time.parameters(), organizationId, userId]);
        const values = [organizationId, id, userId, name, keepMs, waitingMax];
        const made = await runHere(create, [...time.parameters(), ...values]);
        if (made.length === 0) return 'too-many';
        await writeNote(runHere, time, organizationId, note);
        return 'created';
      }),

    listKeyRequests: async (organizationId) =>
      (await run<KeyRequestRow>(all, [...time.parameters(), organizationId])).map(toKeyRequest),

    async decideKeyRequest(organizationId, id, { state, by, keepMs }, note) {
      const values = [organizationId, id, state, by, keepMs, ...auditValues(note)];
      const decided = await run(decide, [...time.parameters(), ...values]);
      return decided.length === 1 ? 'decided' : 'missing';
    },

    redeemKeyRequest: (organizationId, id, userId, secret, note) =>
      database.transaction(async (runHere) => {
        const [issuer] = await runHere<{ api_enabled: boolean }>(holdIssuer, [organizationId]);
        if (issuer?.api_enabled === false) return 'api-disabled';
        const [owner] = await runHere(holdMember, [organizationId, userId]);
        if (owner === undefined) return 'missing';
        const values = [organizationId, id, userId];
        const [request] = await runHere<KeyRequestRow>(use, [...time.parameters(), ...values]);
        if (request === undefined) return 'missing';
        const { hash, id: keyId, hint } = secret;
        const key = [hash, organizationId, keyId, userId, request.name, hint, request.decided_by];
        await runHere(addKey, [...time.parameters(), ...key]);
        await writeNote(runHere, time, organizationId, note);
        return 'created';
      }),
  };
}

function toKeyRequest(row: KeyRequestRow): KeyRequest {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    state: row.state,
    requestedAt: row.requested_at,
    expiresAt: row.expires_at,
  };
}
