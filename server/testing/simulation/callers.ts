import type { Initiator } from '../../src/domain/audit.ts';
import type { OperatorAuthority } from '../../src/domain/authority.ts';
import type { Message } from '../../src/domain/message.ts';
import type { MemberRole } from '../../src/domain/organization.ts';
import type { Principal, UserPrincipal } from '../../src/domain/principal.ts';
import type { WholeThread } from '../../src/usecases/threads/get-thread.ts';
import type { NodeUseCases } from './node.ts';
import type { Random } from './random.ts';
import { type Outcome, pickThread, type Sent, send, sendWithKey } from './request.ts';
import type { ThreadTruth } from './truth.ts';
import type { Person, World } from './world.ts';

const traceId = 'trace';
export const initiator: Initiator<OperatorAuthority> = { authority: { kind: 'operator' }, traceId };

/** The person in the console, with their latest session. */
export function inConsole({ organizationId, userId, sessions }: Person, role: MemberRole = 'member') {
  const sessionHash = sessions.at(-1)!;
  const authority = { kind: 'session', userId, sessionHash, organizationId, role } as const;
  const principal: UserPrincipal = { organizationId, userId, authority };
  return { principal, initiator: { authority, traceId } };
}

/** One of this many prompts is poison, the first one early: a run must be long enough for it to end. */
const poisonEvery = 40;

/** With an idempotency key, a caller retries the request until it gets a response. */
export function create(world: World, random: Random): void {
  const person = random.pick(world.people);
  const number = world.nextNumber();
  const prompt = number % poisonEvery === 1 ? `poison ${number}` : `p${number}`;
  const idempotencyKey = random.chance(0.5) ? `i${number}` : undefined;
  const accountId = random.chance(0.3) ? 'account' : undefined;
  const input = {
    prompt,
    traceId,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(accountId !== undefined && { accountId }),
  };
  const attempt = (left: number): void =>
    sendWithKey(
      world,
      random,
      person,
      `create ${prompt}`,
      ({ threads }, principal) => threads.create(principal, input),
      (outcome) => {
        if (outcome.code === 'OK') {
          const { thread, replyId } = outcome.value;
          const truth = world.oracle.threads.get(thread.id);
          const isKept = truth?.replies[0]?.id === replyId && truth.prompts[0] === prompt;
          world.oracle.expect(isKept, 'acknowledged', () => `${prompt} was acknowledged, but not created`);
        }
        // Sometimes the response is lost between the node and the caller.
        const isAnswered = outcome.code !== 'unavailable' && !random.chance(0.1);
        if (!isAnswered && idempotencyKey !== undefined && left > 0) {
          world.loop.after(random.integer(3000), 'retry', () => attempt(left - 1));
        }
      },
    );
  attempt(3);
}

/** A thread that becomes readable during the read is returned in parts, even if it is small. */
export async function readThread(
  { threads }: NodeUseCases,
  principal: Principal,
  threadId: string,
): Promise<WholeThread> {
  const found = await threads.get(principal, threadId);
  if (!('parts' in found)) return found;
  const { parts, ...head } = found;
  const messages: Message[] = [];
  for await (const part of parts) messages.push(...part);
  return { ...head, messages };
}

export function get(world: World, random: Random): void {
  const person = random.pick(world.people);
  const thread = pickThread(world, random, person);
  if (thread === undefined) return;
  sendWithKey(
    world,
    random,
    person,
    `get ${thread.title.value}`,
    (useCases, principal) => readThread(useCases, principal, thread.id),
    (outcome, sent) => checkRead(world, person, thread, outcome, sent),
  );
}

export function rename(world: World, random: Random): void {
  const person = random.pick(world.people);
  const thread = pickThread(world, random, person);
  if (thread === undefined) return;
  const title = `t${world.nextNumber()}`;
  sendWithKey(
    world,
    random,
    person,
    `rename ${thread.title.value} to ${title}`,
    ({ threads }, principal) => threads.rename(principal, thread.id, title),
    (outcome, { began }) => {
      const isKept = outcome.code !== 'OK' || thread.title.heldSince(began, (value) => value === title);
      world.oracle.expect(isKept, 'acknowledged', () => `the title ${title} was acknowledged, but not kept`);
      checkOwn(world, person, thread, outcome);
    },
  );
}

export function remove(world: World, random: Random): void {
  const person = random.pick(world.people);
  const thread = pickThread(world, random, person);
  if (thread === undefined) return;
  sendWithKey(
    world,
    random,
    person,
    `delete ${thread.title.value}`,
    ({ threads }, principal) =>
      threads.remove({ principal, initiator: { authority: principal.authority, traceId } }, thread.id),
    (outcome, { began }) => {
      const isGone = outcome.code !== 'OK' || thread.deleted.heldSince(began, (deleted) => deleted);
      world.oracle.expect(isGone, 'acknowledged', () => `${thread.id} was not deleted`);
      checkOwn(world, person, thread, outcome);
      if (outcome.code === 'OK' && random.chance(0.2)) restore(world, random, person, thread);
    },
  );
}

function restore(world: World, random: Random, person: Person, thread: ThreadTruth): void {
  send(
    world,
    random,
    `restore ${thread.title.value}`,
    ({ threads }) => threads.restore(inConsole(person), thread.id),
    (outcome) => checkOwn(world, person, thread, outcome),
  );
}

/** Adds a prompt, retries or stops a reply, or publishes, in the console. */
export function converse(world: World, random: Random): void {
  const person = random.pick(world.people);
  const thread = pickThread(world, random, person);
  if (thread === undefined) return;
  const number = world.nextNumber();
  const caller = inConsole(person);
  const published = random.chance(0.6);
  const verbs = {
    prompt: ({ replies }) => replies.add(caller, thread.id, `p${number}`),
    retry: ({ replies }) => replies.add(caller, thread.id),
    stop: ({ replies }) => replies.cancel(caller.principal, thread.id),
    publish: ({ threads }) => threads.publishOwn(caller, thread.id, published),
  } satisfies Record<string, (useCases: NodeUseCases) => Promise<unknown>>;
  const verb = random.pick(Object.keys(verbs) as (keyof typeof verbs)[]);
  send(
    world,
    random,
    `${person.email}: ${verb} in ${thread.title.value}`,
    verbs[verb] as typeof verbs.prompt,
    (outcome) => {
      checkOwn(world, person, thread, outcome);
      const isKept = verb !== 'prompt' || outcome.code !== 'OK' || thread.prompts.includes(`p${number}`);
      world.oracle.expect(isKept, 'acknowledged', () => `p${number} was acknowledged, but not kept`);
    },
  );
}

/** Only the creator of a thread changes it. */
function checkOwn(world: World, person: Person, thread: ThreadTruth, { code }: Outcome<unknown>): void {
  const may =
    code !== 'OK' || (thread.userId === person.userId && thread.organizationId === person.organizationId);
  world.oracle.expect(may, 'tenants', () => `${person.email} changed ${thread.id} of another`);
}

/** A read shows a state that held at some moment since it was sent. */
export function checkRead(
  { oracle }: World,
  { organizationId, userId, email }: Person,
  thread: ThreadTruth,
  outcome: Outcome<WholeThread>,
  { began }: Sent,
): void {
  const isOurs = thread.organizationId === organizationId;
  const isOwn = isOurs && thread.userId === userId;
  if (outcome.code === 'OK') {
    const { thread: found, messages } = outcome.value;
    const may = isOwn || (isOurs && thread.published.heldSince(began, (published) => published));
    oracle.expect(may, 'tenants', () => `${email} read ${thread.id}, which is not published`);
    const isAlive = thread.deleted.heldSince(began, (deleted) => !deleted);
    const isTitled = thread.title.heldSince(began, (title) => title === found.title);
    oracle.expect(isAlive && isTitled, 'acknowledged', () => `${thread.id} was read as it was before`);
    for (const { id, ended } of thread.replies) {
      if (ended === undefined || ended.at > began) continue;
      const shown = messages.find((message) => message.id === id);
      const isShown = shown?.role === 'assistant' && shown.status === ended.status;
      oracle.expect(isShown, 'acknowledged', () => `${id} is ${ended.status}, but was shown otherwise`);
    }
  } else if (outcome.code === 'NOT_FOUND' && isOwn) {
    const wasGone = thread.deleted.heldSince(began, (deleted) => deleted);
    oracle.expect(wasGone, 'acknowledged', () => `${email} did not find ${thread.id}`);
  }
}
