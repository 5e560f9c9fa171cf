import type { Message } from '../../domain/message.ts';
import type { Thread } from '../../domain/thread.ts';
import { presentMessage, presentThread } from './presentation.ts';

/** An example exchange, rendered by the same code as a real one. */
const createdAt = Date.UTC(2026, 10, 15, 9, 30);
const thread = {
  organizationId: 'org_01kaq3w9e0c4z8s6m2y7t5r1xd',
  id: 'thr_01kaq3w9e07n3v5b8d2f6h4j9k',
  userId: 'usr_01kaq3w9e0q1w2e3r4t5y6z7x8',
  title: 'How long do customers have to return an order?',
  accountId: 'acct_42',
  secondaryId: null,
  createdAt,
  updatedAt: null,
  published: false,
  deletedAt: null,
} as unknown as Thread;
const messages = [
  {
    id: 'msg_01kaq3w9e0a1b2c3d4e5f6g7h8',
    threadId: thread.id,
    role: 'user',
    content: 'How long do customers have to return an order?',
    createdAt,
  },
  {
    id: 'msg_01kaq3w9e0a1b2c3d4e5f6g7h9',
    threadId: thread.id,
    role: 'assistant',
    content: 'Customers have thirty days from delivery.',
    createdAt,
    status: 'completed',
    completedAt: createdAt + 2400,
    steps: [{ description: 'Reading the prompt' }],
    sources: null,
    model: 'scripted',
  },
] as unknown as Message[];
const threadUrl = `https://skein.example/threads/${thread.id}`;

export const examples: Record<string, object> = {
  createThread: {
    thread: presentThread(thread, null),
    messageId: messages[0]?.id,
    responseMessageId: messages[1]?.id,
  },
  getThread: {
    thread: presentThread(thread, threadUrl),
    messages: messages.map(presentMessage),
    status: { state: 'idle', activeMessageId: null, latestUpdate: null, stepCount: 0 },
  },
  listThreads: { threads: [presentThread(thread, threadUrl)], nextCursor: null, truncated: false },
  renameThread: {
    thread: presentThread({ ...thread, title: 'Returns', updatedAt: createdAt + 60_000 }, threadUrl),
  },
  deleteThread: { id: thread.id, deleted: true },
};
