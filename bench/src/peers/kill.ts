import { setTimeout as pause } from 'node:timers/promises';
import { type Contender, init } from './contender.ts';

export interface Survival {
  /** Requests that got a response before the process was killed, or were still pending. */
  readonly accepted: number;
  readonly finished: number;
}

/** Long enough for a server that writes its memory to a file three seconds after the last change. */
const replyMs = 8_000;
const finishedWithinMs = 25_000;

/** Requests replies, kills the process after half of their time, restarts it and counts the finished ones. */
export async function surviveKill(contender: Contender, folder: string, count: number): Promise<Survival> {
  const seeded = await contender.seed(folder, 100);
  const first = await seeded.start({ replySlots: count });
  let refused = 0;
  const asked = seeded.ask(count, replyMs).map(async (request) => {
    const response = await fetch(first.baseUrl + request.path, init(request));
    if (!response.ok) refused += 1;
    await response.text();
  });
  const ended = Promise.allSettled(asked);
  await pause(replyMs / 2);
  await first.stop('SIGKILL');
  await ended;
  const second = await seeded.start({ replySlots: count });
  let finished = 0;
  for (let waitedMs = 0; waitedMs < finishedWithinMs && finished < count - refused; waitedMs += 500) {
    await pause(500);
    finished = await seeded.countFinished(second);
  }
  await second.stop('SIGKILL');
  return { accepted: count - refused, finished };
}
