import { type LogPosition, openCursor, sealCursor } from '../../domain/cursor.ts';
import { invalid, threadNotFound } from '../../domain/errors.ts';
import { isThreadId, type MessageId } from '../../domain/id.ts';
import { formatBytes } from '../../domain/limits.ts';
import { changeRefused } from '../../domain/principal.ts';
import { type ConfiguredModel, type ModelTrial, trialQuestion } from '../../domain/reply.ts';
import { counted } from '../../domain/text.ts';
import type { NewRating, Rating, ReplyName } from '../../storage/store.ts';
import { authorize } from '../authorize.ts';
import type { PersonCall, PrincipalCall } from '../context.ts';
import type { UserChange } from '../organization/audit-log.ts';
import { recordAction } from '../organization/record-action.ts';
import { findOwnThread } from '../threads/get-thread.ts';
import { limitPrompts } from './limit-prompts.ts';
import { reportEnded } from './tend-replies.ts';

/**
 * Adds a prompt and its reply, or without a prompt another reply to the last one. With `replaces`, the id of the last
 * prompt, models no longer see that one. Only the thread's creator may do this, and only one reply may run at a time.
 */
export async function addReply(
  { context, principal, initiator: { traceId } }: UserChange,
  threadId: string,
  content?: string,
  replaces?: string,
): Promise<void> {
  const { store, ids, limits, replySignals, threadSignals } = context;
  if (!isThreadId(threadId)) throw threadNotFound();
  const edited = replaces === undefined ? {} : { replaces: replaces as MessageId };
  const prompt = content === undefined ? null : { messageId: ids.message(), content, ...edited };
  const reply = {
    prompt,
    replyId: ids.message(),
    replyDeadlineMs: limits.replyDeadlineMs,
    traceId,
    budget: { messagesMax: limits.threadMessagesMax, bytesMax: limits.threadBytesMax },
  };
  const { organizationId, authority } = principal;
  const result = await authorize(
    context,
    authority,
    store.addReply(organizationId, threadId, reply, authority),
  );
  switch (result.outcome) {
    case 'added':
      replySignals.replyWaiting();
      threadSignals.changed(threadId);
      return;
    case 'running':
      throw invalid('A reply is still in progress. Wait until it finishes, or stop it.');
    case 'outdated':
      throw invalid('Only the last prompt of a thread can be edited.');
    case 'full': {
      const messages = counted(limits.threadMessagesMax, 'message');
      const limit = result.exceeded === 'messages' ? messages : formatBytes(limits.threadBytesMax);
      throw invalid(`This would exceed the thread's limit of ${limit}. Start a new thread.`);
    }
    case 'missing':
      throw threadNotFound();
    case 'refused':
      throw changeRefused(principal, result.thread, 'add prompts to it');
  }
}

/** Stops the thread's running reply, if there is one: keeps its text so far and aborts its model call. */
export async function cancelReply(call: PersonCall, threadId: string): Promise<void> {
  const { context, principal } = call;
  const { organizationId, id } = await findOwnThread(call, threadId, 'stop its reply');
  const { authority } = principal;
  const cancelled = await authorize(
    context,
    authority,
    context.store.cancelReplies(organizationId, id, authority),
  );
  const replies = cancelled.map((messageId) => ({ organizationId, threadId: id, messageId }));
  reportEnded(context, 'cancelled', replies);
}

/** Sets or (null) removes the person's rating of a reply. Anyone who may read the thread may rate its replies. */
export async function rateReply(
  { context, principal: { organizationId, authority } }: PersonCall,
  threadId: string,
  messageId: string,
  rating: NewRating | null,
): Promise<void> {
  if (!isThreadId(threadId)) throw threadNotFound();
  const write = context.store.rateReply(organizationId, threadId, messageId, rating, authority);
  const outcome = await authorize(context, authority, write);
  if (outcome === 'missing') throw threadNotFound();
}

export async function listRatings({ context, principal }: PersonCall, threadId: string): Promise<Rating[]> {
  const { organizationId, userId } = principal;
  return isThreadId(threadId) ? context.store.listRatings(organizationId, threadId, userId) : [];
}

/** Latest first. Being an admin does not open other people's threads (§4.2). A page may be empty although more follow. */
export async function listUnanswered(
  { context: { store, seal }, principal: { organizationId, userId } }: PersonCall,
  { cursor, limit }: { readonly cursor?: string; readonly limit: number },
) {
  const listing = ['unanswered', organizationId, userId];
  const before = openCursor<LogPosition>(seal, listing, cursor);
  const { rows, next } = await store.listUnanswered(organizationId, userId, { limit, before });
  return { replies: rows, nextCursor: next && sealCursor(seal, listing, next) };
}

/** The running reply of a thread that the principal may read; undefined if none is running. */
export async function findRunningReply(
  { context: { store }, principal }: PrincipalCall,
  threadId: string,
): Promise<ReplyName | undefined> {
  if (!isThreadId(threadId)) throw threadNotFound();
  const { organizationId } = principal;
  const messageId = await store.findRunningReply(organizationId, threadId, principal);
  if (messageId === undefined) throw threadNotFound();
  return messageId === null ? undefined : { organizationId, threadId, messageId };
}

/** Waits until the reply has ended, or `until` aborts. Waiting costs only an entry in memory. */
export async function waitForReply(call: PrincipalCall, reply: ReplyName, until: AbortSignal): Promise<void> {
  if (until.aborted) return;
  const { replySignals, telemetry } = call.context;
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const unwatch = replySignals.watch(reply, end);
  until.addEventListener('abort', () => end(), { once: true });
  telemetry.readsWaiting(1);
  // It may have ended after it was read and before it was watched.
  const checked = findRunningReply(call, reply.threadId).then((running) =>
    running?.messageId === reply.messageId ? ended : undefined,
  );
  await Promise.race([ended, checked]).finally(() => {
    unwatch();
    telemetry.readsWaiting(-1);
  });
}

const testMsMax = 30_000;
const answerLengthMax = 500;

/** Asks the model a fixed question, which counts as a prompt and is audited. Null without a provider. */
export async function testModel(call: UserChange, model: ConfiguredModel): Promise<ModelTrial | null> {
  if (model.provider === null) return null;
  await limitPrompts(call);
  const { organizationId } = call.principal;
  const change = { ...call, organizationId };
  await recordAction(change, 'model.tested', organizationId, { model: model.name });
  const trial = await model.test(trialQuestion, testMsMax);
  if (trial?.ok !== true) return trial ?? null;
  return { ...trial, answer: trial.answer.slice(0, answerLengthMax).toWellFormed() };
}
