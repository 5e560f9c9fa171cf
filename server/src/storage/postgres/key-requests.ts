import type { KeyRequest } from '../../domain/credential.ts';
import type { UserId } from '../../domain/id.ts';
import type { KeyRequests } from '../store.ts';
import { addKey, holdApiEnabled } from './api-keys.ts';
import { insertNote, noteValues, writeNote } from './audit.ts';
import type { Database } from './database.ts';
import { sql, statement } from './sql.ts';
import { now } from './store-time.ts';

/** Serializes the requests of one member, so that each counts the ones that were committed before it. */
const lockMember = statement('hold-requesting-member')`SELECT service FROM member
  WHERE organization_id = :organizationId AND user_id = :userId FOR NO KEY UPDATE`;
const removeExpired = statement('forget-expired-key-requests')`DELETE FROM key_request
  WHERE organization_id = :organizationId AND user_id = :userId AND expires_at <= ${now}`;
const create = statement('create-key-request')`
  INSERT INTO key_request (organization_id, id, user_id, name, state, requested_at, expires_at)
  SELECT :organizationId, :requestId, :userId, :name, 'pending', at, at + :keepMs::bigint
  FROM (SELECT ${now} AS at) AS moment
  WHERE :waitingMax > (
    SELECT count(*) FROM key_request
    WHERE organization_id = :organizationId AND user_id = :userId AND state <> 'declined')
  RETURNING id`;
const list = statement('list-key-requests')`
  SELECT id, user_id AS "userId", name, state, requested_at AS "requestedAt", expires_at AS "expiresAt"
  FROM key_request WHERE organization_id = :organizationId AND expires_at > ${now} ORDER BY id`;
const decide = statement('decide-key-request')`WITH decided AS (
    UPDATE key_request SET state = :state, decided_by = :by, expires_at = at + :keepMs::bigint
    FROM (SELECT ${now} AS at) AS moment
    WHERE organization_id = :organizationId AND id = :requestId AND state = 'pending' AND expires_at > at
    RETURNING id, at
  ), noted AS (${insertNote(sql`decided`, sql`:organizationId`, sql`at`)})
  SELECT id FROM decided`;
const redeem = statement('use-key-request')`DELETE FROM key_request
  WHERE organization_id = :organizationId AND id = :requestId AND user_id = :userId AND state = 'approved'
    AND expires_at > ${now}
  RETURNING name, decided_by AS "decidedBy"`;

export function postgresKeyRequests(database: Database): KeyRequests {
  const { run, time } = database;
  return {
    createKeyRequest: (organizationId, { id: requestId, userId, name, keepMs, waitingMax }, note) =>
      database.transaction(async (runHere) => {
        const enabled = await holdApiEnabled(runHere, organizationId);
        const [member] = await runHere<{ service: boolean }>(lockMember, { organizationId, userId });
        if (member?.service !== false) return 'not-a-member';
        if (enabled !== true) return 'api-disabled';
        await runHere(removeExpired, { organizationId, userId });
        const values = { organizationId, requestId, userId, name, keepMs, waitingMax };
        if ((await runHere(create, values)).length === 0) return 'too-many';
        await writeNote(runHere, time, organizationId, note);
        return 'created';
      }),

    listKeyRequests: (organizationId) => run<KeyRequest>(list, { organizationId }),

    async decideKeyRequest(organizationId, requestId, { state, by, keepMs }, note) {
      const values = { organizationId, requestId, state, by, keepMs, ...noteValues(note) };
      return (await run(decide, values)).length === 1 ? 'decided' : 'missing';
    },

    redeemKeyRequest: (organizationId, requestId, userId, secret, note) =>
      database.transaction(async (runHere) => {
        if ((await holdApiEnabled(runHere, organizationId)) === false) return 'api-disabled';
        const owners = await runHere(lockMember, { organizationId, userId });
        if (owners.length === 0) return 'missing';
        type Request = { name: string; decidedBy: UserId | null };
        const [request] = await runHere<Request>(redeem, { organizationId, requestId, userId });
        if (request === undefined) return 'missing';
        const { name, decidedBy: createdBy } = request;
        await addKey(runHere, organizationId, { ...secret, userId, name, createdBy });
        await writeNote(runHere, time, organizationId, note);
        return 'created';
      }),
  };
}
