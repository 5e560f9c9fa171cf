import type { Complaint, Rating, Ratings, UnansweredReply } from '../port/store.ts';
import { newest } from './audit.ts';
import { authorized } from './authority.ts';
import { type Sql, sql, statement } from './sql.ts';
import { isReadable } from './thread-reads.ts';
import { count, method, row, rows, run, type Transactions } from './work.ts';

const ofReply = sql`organization_id = :organizationId AND thread_id = :threadId AND message_id = :messageId`;
const isReply = sql`organization_id = :organizationId AND thread_id = :threadId AND id = :messageId`;
const readableThread = sql`EXISTS (
    SELECT 1 FROM thread WHERE organization_id = :organizationId AND id = :threadId AND ${isReadable})`;

// Ratings of one reply take turns, so that the last one sees all others.
const lockReply = statement('lock-rated-reply')`SELECT 1 FROM message
  WHERE ${isReply} AND role = 'assistant' AND completed_at IS NOT NULL AND ${readableThread}
  FOR UPDATE`;
const setRating = statement('set-rating')`
  INSERT INTO rating (organization_id, thread_id, message_id, user_id, value, comment, rated_at)
  VALUES (:organizationId, :threadId, :messageId, :userId, :value, :comment, :now)
  ON CONFLICT (organization_id, thread_id, message_id, user_id)
  DO UPDATE SET value = excluded.value, comment = excluded.comment, rated_at = excluded.rated_at`;
const removeRating = statement('remove-rating')`DELETE FROM rating WHERE ${ofReply} AND user_id = :userId`;
// A time after completed_at, which stands for a reply that itself found no answer.
const setUnanswered = statement('set-unanswered')`UPDATE message SET unanswered_at = CASE
    WHEN unanswered_at = completed_at THEN unanswered_at
    WHEN EXISTS (SELECT 1 FROM rating WHERE ${ofReply} AND value = 'down')
      THEN coalesce(unanswered_at, CASE WHEN :now > completed_at THEN :now ELSE completed_at + 1 END)
    END
  WHERE ${isReply}`;
const listRatings = statement('list-ratings')`SELECT message_id AS "messageId", value, comment FROM rating
  WHERE organization_id = :organizationId AND thread_id = :threadId AND user_id = :userId AND ${readableThread}
  ORDER BY message_id`;

const textMax = 500;
const complaintsMax = 5;
/** How many replies a page of the listing looks at: others' threads that are not published are among them. */
const scannedMax = 500;
const scan = statement('scan-unanswered')`WITH scanned AS MATERIALIZED (
    SELECT thread_id, id, unanswered_at FROM message INDEXED BY message_unanswered
    WHERE organization_id = :organizationId AND unanswered_at IS NOT NULL
      AND (unanswered_at, id) < (:beforeAt, :beforeId)
    ORDER BY unanswered_at DESC, id DESC LIMIT ${scannedMax})
  SELECT thread_id AS "threadId", scanned.id AS "messageId", unanswered_at AS at,
    CASE WHEN ${isReadable} THEN 1 ELSE 0 END AS readable
  FROM scanned JOIN thread ON organization_id = :organizationId AND thread.id = thread_id
  ORDER BY unanswered_at DESC, scanned.id DESC`;
/** Null for a person who has left the organization. */
const emailOfMember = (userId: Sql) => sql`(SELECT email FROM member JOIN "user" ON "user".id = member.user_id
    WHERE member.organization_id = :organizationId AND member.user_id = ${userId})`;
const readUnanswered = statement('read-unanswered')`
  SELECT reply.thread_id AS "threadId", reply.id AS "messageId", title, account_id AS "accountId",
    ${emailOfMember(sql`thread.user_id`)} AS "askedBy", unanswered_at AS "unansweredAt", substr(content, 1, ${textMax}) AS reply,
    (SELECT substr(asked.content, 1, ${textMax}) FROM message AS asked
     WHERE asked.organization_id = :organizationId AND asked.thread_id = :threadId AND asked.role = 'user'
       AND asked.created_at <= reply.created_at
     ORDER BY asked.created_at DESC, asked.id DESC LIMIT 1) AS prompt
  FROM message AS reply
  JOIN thread ON thread.organization_id = reply.organization_id AND thread.id = reply.thread_id
  WHERE reply.organization_id = :organizationId AND reply.thread_id = :threadId AND reply.id = :messageId
    AND unanswered_at IS NOT NULL AND ${isReadable}`;
const listComplaints = statement('list-complaints')`
  SELECT ${emailOfMember(sql`rating.user_id`)} AS email, comment, rated_at AS "ratedAt" FROM rating
  WHERE ${ofReply} AND value = 'down' ORDER BY rated_at DESC, user_id LIMIT ${complaintsMax}`;

type ScannedRow = Pick<UnansweredReply, 'threadId' | 'messageId'> & { at: number; readable: number };

export const ratings = ({ read, write }: Transactions): Ratings => ({
  rateReply: authorized(write, function* (organizationId, threadId, messageId, rating, authority) {
    const values = { organizationId, threadId, messageId, userId: authority.userId };
    if ((yield* count(lockReply, values)) === 0) return 'missing';
    yield* rating === null ? run(removeRating, values) : run(setRating, { ...values, ...rating });
    yield* run(setUnanswered, values);
    return 'done';
  }),

  listRatings: (organizationId, threadId, userId) =>
    read(() => rows<Rating>(listRatings, { organizationId, threadId, userId })),

  listUnanswered: method(read, function* (organizationId, userId, { before = newest, limit }) {
    const values = { organizationId, userId, beforeAt: before.at, beforeId: before.id };
    const scanned = yield* rows<ScannedRow>(scan, values);
    const shown = scanned.filter(({ readable }) => readable === 1).slice(0, limit);
    const found: UnansweredReply[] = [];
    for (const { threadId, messageId } of shown) {
      const ids = { organizationId, threadId, messageId, userId };
      const unanswered = yield* row<Omit<UnansweredReply, 'complaints'>>(readUnanswered, ids);
      if (unanswered === undefined) continue;
      found.push({ ...unanswered, complaints: yield* rows<Complaint>(listComplaints, ids) });
    }
    const last = shown.length === limit ? shown.at(-1) : scanned.at(-1);
    const isEnd = last === undefined || (last === scanned.at(-1) && scanned.length < scannedMax);
    return { rows: found, next: isEnd ? null : { at: last.at, id: last.messageId } };
  }),
});
