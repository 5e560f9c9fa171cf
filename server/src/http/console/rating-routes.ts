import { iso } from '../../domain/iso-time.ts';
import { formerMember } from '../../domain/organization.ts';
import { findClosestPassages } from '../../usecases/documents/documents.ts';
import { listRatings, listUnanswered, rateReply } from '../../usecases/replies/rate-replies.ts';
import { Type, text } from '../schema.ts';
import { type ConsoleOptions, type ConsoleRoute, defineConsoleRoute } from './route.ts';
import { closestPassagesSchema, ratingBody, ratingsSchema, unansweredPageSchema } from './thread-schemas.ts';

const questionLengthMax = 500;

/** Ratings of replies, and what admins do about questions that the documents do not answer. */
export function ratingRoutes({ limits }: ConsoleOptions): readonly ConsoleRoute[] {
  return [
    defineConsoleRoute('GET /threads/:id/ratings', 'member', {
      response: ratingsSchema,
      async handle({ context, principal, path }) {
        return { ratings: await listRatings(context, principal, path.id) };
      },
    }),
    defineConsoleRoute('PUT /threads/:id/rating', 'member', {
      body: ratingBody(limits),
      async handle({ context, principal, path, body: { messageId, value, comment = '' } }) {
        const rating = value && { value, comment: comment.trim() === '' ? null : comment };
        await rateReply(context, principal, path.id, messageId, rating);
      },
    }),
    defineConsoleRoute('GET /unanswered', 'admin', {
      query: Type.Object({
        cursor: Type.Optional(Type.String()),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.pageSizeMax })),
      }),
      response: unansweredPageSchema,
      async handle({ context, principal, query: { limit = 20, ...query } }) {
        const { replies, nextCursor } = await listUnanswered(context, principal, { limit, ...query });
        const shown = replies.map(({ unansweredAt, complaints, ...reply }) => ({
          ...reply,
          askedBy: reply.askedBy ?? formerMember,
          at: iso(unansweredAt),
          complaints: complaints.map(({ email, comment, ratedAt }) => ({
            by: email ?? formerMember,
            comment,
            at: iso(ratedAt),
          })),
        }));
        return { replies: shown, nextCursor };
      },
    }),
    defineConsoleRoute('GET /passages', 'admin', {
      query: Type.Object({
        question: text(1, questionLengthMax),
        accountId: Type.Optional(text(0, limits.linkLengthMax)),
      }),
      response: closestPassagesSchema,
      async handle({ context, organizationId, query: { question, accountId = null } }) {
        const { searched, passages } = await findClosestPassages(
          context,
          organizationId,
          accountId,
          question,
        );
        return {
          searched,
          passages: passages.map(({ documentId, title, url, heading, text }) => {
            return { documentId, title, url, heading, text };
          }),
        };
      },
    }),
  ];
}
