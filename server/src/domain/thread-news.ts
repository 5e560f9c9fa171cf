import type { AssistantMessage, Step } from './message.ts';
import { isRunning } from './reply.ts';
import type { Thread } from './thread.ts';

/** The parts of a thread that are compared. Messages before the latest reply never change. */
export interface SeenThread {
  readonly thread: Thread;
  readonly messageCount: number;
  readonly latest: AssistantMessage;
}

/** How a running reply has changed: steps and text are new from these positions on. */
export interface ReplyChange {
  readonly reply: AssistantMessage;
  readonly stepsFrom: number;
  /** In UTF-16 units, and never within a character. */
  readonly textFrom: number;
}

/** What has changed since `seen`: nothing, only the running reply, or (`more`) anything else. */
export function threadNews(seen: SeenThread, now: SeenThread): 'nothing' | 'more' | ReplyChange {
  const isSame = isSameThread(seen.thread, now.thread) && seen.messageCount === now.messageCount;
  if (!isSame || seen.latest.id !== now.latest.id) return 'more';
  if (!isRunning(seen.latest.status)) return 'nothing';
  return isRunning(now.latest.status) ? replyChange(seen.latest, now.latest) : 'more';
}

function replyChange(before: AssistantMessage, reply: AssistantMessage): 'nothing' | ReplyChange {
  const stepsFrom = commonSteps(before.steps, reply.steps);
  const textFrom = commonLength(before.content, reply.content);
  const isSame =
    before.status === reply.status &&
    stepsFrom === before.steps.length &&
    stepsFrom === reply.steps.length &&
    before.content === reply.content;
  return isSame ? 'nothing' : { reply, stepsFrom, textFrom };
}

function isSameThread(seen: Thread, now: Thread): boolean {
  return seen.title === now.title && seen.published === now.published && seen.updatedAt === now.updatedAt;
}

function commonSteps(seen: readonly Step[], now: readonly Step[]): number {
  const differs = (step: Step, place: number) =>
    step.description !== now[place]?.description || step.at !== now[place]?.at;
  const first = seen.findIndex(differs);
  return first === -1 ? seen.length : first;
}

function commonLength(seen: string, now: string): number {
  // The usual case: the text has grown.
  if (now.startsWith(seen)) return outsideCharacter(now, seen.length);
  let length = 0;
  while (length < seen.length && seen[length] === now[length]) length += 1;
  return outsideCharacter(now, length);
}

/** Moves a position inside a surrogate pair to before the pair. */
function outsideCharacter(text: string, place: number): number {
  return (text.codePointAt(place - 1) ?? 0) > 0xffff ? place - 1 : place;
}
