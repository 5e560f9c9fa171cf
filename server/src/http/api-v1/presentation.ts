import { iso, isoOrNull } from '../../domain/iso-time.ts';
import type { Message } from '../../domain/message.ts';
import type { Thread } from '../../domain/thread.ts';
import type { MessageJson, ThreadJson } from './schemas.ts';

/** A thread as in §2.1. `threadUrl` is null in the create response only. */
export function presentThread(thread: Thread, threadUrl: string | null): ThreadJson {
  return {
    id: thread.id,
    title: thread.title,
    createdAt: iso(thread.createdAt),
    updatedAt: isoOrNull(thread.updatedAt),
    accountId: thread.accountId,
    secondaryId: thread.secondaryId,
    published: thread.published,
    deleted: thread.deletedAt !== null,
    threadUrl,
  };
}

/** A message as in §2.2. A user message has only its text. */
export function presentMessage(message: Message): MessageJson {
  const { id, threadId, role, content } = message;
  const createdAt = iso(message.createdAt);
  if (message.role === 'user') {
    return {
      id,
      threadId,
      role,
      content,
      status: null,
      createdAt,
      completedAt: null,
      steps: null,
      sources: null,
      attachments: null,
      model: null,
    };
  }
  return {
    id,
    threadId,
    role,
    content,
    status: message.status,
    createdAt,
    completedAt: isoOrNull(message.completedAt),
    // Only the console shows when a step was taken.
    steps: message.steps.map(({ description }) => ({ description })),
    sources: message.sources as MessageJson['sources'],
    attachments: null,
    model: message.model,
  };
}
