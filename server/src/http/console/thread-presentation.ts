import type { OrganizationId } from '../../domain/id.ts';
import type { AssistantMessage, DescribeSupport, Message, Step, Verdict } from '../../domain/message.ts';
import { formerMember } from '../../domain/organization.ts';
import { iso } from '../../domain/time.ts';
import type { ReplyChange, ThreadEvent } from '../../usecases/threads/follow-thread.ts';
import type { ThreadHeadView, ThreadView } from '../../usecases/threads/get-thread.ts';
import { encodeInTurns, jsonSlices, partRenderer } from '../render-in-turns.ts';
import { type Json, present } from '../schema.ts';
import type { Piece, Pieces } from '../wire/index.ts';
import * as schemas from './thread-schemas.ts';

type Head = Omit<Json<typeof schemas.threadViewSchema>, 'messages'> & { readonly now?: string };

export type ThreadPresentation = ReturnType<typeof createThreadPresentation>;

/** A large thread is loaded as the peer takes it. */
export function createThreadPresentation(describeSupport: DescribeSupport) {
  const renderForCreator = partRenderer((message: Message) =>
    jsonSlices(presentMessage(message, true, describeSupport), 'content'),
  );
  const renderForOthers = partRenderer((message: Message) =>
    jsonSlices(presentMessage(message, false, describeSupport), 'content'),
  );
  return { presentView, presentEvent };

  /** The JSON of a thread and its messages. */
  function presentView({ view, parts }: ThreadView): Pieces {
    return renderView(presentHead(view), view, parts);
  }

  /** The name of an event of the stream, and its data. */
  function presentEvent(
    organizationId: OrganizationId,
    event: ThreadEvent,
    now: number,
  ): readonly [keyof schemas.ThreadEvents, Pieces] {
    switch (event.type) {
      case 'view': {
        const head = { ...presentHead(event.view), now: iso(now) };
        return ['view', renderView(head, event.view, event.parts)];
      }
      case 'progress':
        return ['progress', renderProgress(organizationId, event)];
      case 'gone':
        return ['gone', ['{}']];
    }
  }

  async function* renderView(
    head: Head,
    { thread, mine }: ThreadHeadView,
    parts: ThreadView['parts'],
  ): AsyncGenerator<Piece> {
    const render = mine ? renderForCreator : renderForOthers;
    yield `${JSON.stringify(head).slice(0, -1)},"messages":[`;
    let separator = '';
    for await (const part of parts) {
      yield separator;
      yield await render(thread.organizationId, part);
      separator = ',';
    }
    yield ']}';
  }
}

function presentHead({ thread, mine, createdBy, status }: ThreadHeadView): Head {
  const shown = { ...thread, mine, createdBy: createdBy ?? formerMember };
  return { thread: present(schemas.threadHeadSchema, shown), state: status.state };
}

async function* renderProgress(organizationId: OrganizationId, change: ReplyChange): AsyncGenerator<Piece> {
  yield await encodeInTurns(organizationId, jsonSlices(presentProgress(change), 'text'));
}

function presentProgress({ reply, stepsFrom, textFrom }: ReplyChange): schemas.ThreadEvents['progress'] {
  return {
    messageId: reply.id,
    status: reply.status,
    stepsFrom,
    steps: reply.steps.slice(stepsFrom).map((step) => presentStep(step, reply)),
    textFrom,
    text: reply.content.slice(textFrom),
  };
}

function presentMessage(
  message: Message,
  mine: boolean,
  describeSupport: DescribeSupport,
): Json<typeof schemas.messageSchema> {
  if (message.role === 'assistant') return presentReply(message, mine, describeSupport);
  const { createdAt, threadId: _, ...prompt } = message;
  return { ...prompt, createdAt: iso(createdAt) };
}

/** Only the creator of the thread sees the trace ID and the reason of a failure. */
function presentReply(
  reply: AssistantMessage,
  mine: boolean,
  describeSupport: DescribeSupport,
): Json<typeof schemas.replySchema> {
  const { traceId, failure, verdict } = reply.details!;
  const summary = describeSupport(reply, verdict);
  return present(schemas.replySchema, {
    ...reply,
    steps: reply.steps.map((step) => presentStep(step, reply)),
    traceId: mine ? traceId : null,
    // A completed reply may have failed in an earlier attempt.
    failure: mine && reply.status === 'failed' ? failure : null,
    verdict: summary === null ? null : { summary, ...(verdict ?? uncheckedVerdict) },
  });
}

/** Of a reply that quotes its sources: there was nothing to check. */
const uncheckedVerdict: Verdict = { statements: 0, found: 0, checked: [] };

/** The times come from two clocks, the store's and the worker's, so the difference could be negative. */
function presentStep({ description, at }: Step, { createdAt }: AssistantMessage) {
  return { description, elapsedMs: at === undefined ? null : Math.max(0, at - createdAt) };
}
