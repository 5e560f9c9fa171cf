import { checkRead, inConsole, readThread } from './callers.ts';
import type { NodeUseCases, SimulatedNode } from './node.ts';
import { nameReply } from './oracle.ts';
import type { Random } from './random.ts';
import { pickThread, type Sent, send, sendWithKey } from './request.ts';
import type { Held, ReplyTruth } from './truth.ts';
import type { World } from './world.ts';

/** How soon the end of a reply is known on every node, even if all notices are lost. */
const waitEndsWithinMs = 1500;
const streamLearnsWithinMs = 6000;

/** `GET` with `Prefer: wait`. */
export function wait(world: World, random: Random): void {
  const person = random.pick(world.people);
  const thread = pickThread(world, random, person);
  if (thread === undefined) return;
  const ms = random.integer(25_000);
  let release = () => {};
  sendWithKey(
    world,
    random,
    person,
    `wait ${ms} ms in ${thread.title.value}`,
    async (useCases, principal, { node }) => {
      const { replies } = useCases;
      const reply = await replies.findRunning(principal, thread.id);
      if (reply !== undefined) {
        const until = limited(node, ms);
        const { process } = node;
        const text = `the wait of ${person.email} for ${reply.messageId}`;
        release = hold(world, { text, process, thread, knows: () => false }, ms);
        await replies.waitUntilEnded(principal, reply, until).finally(release);
        const isOver = until.aborted || world.oracle.replies.get(reply.messageId)?.ended !== undefined;
        world.oracle.expect(isOver, 'ends', () => `${text} ended before the reply`);
      }
      return readThread(useCases, principal, thread.id);
    },
    (outcome, sent) => checkRead(world, person, thread, outcome, { ...sent, began: sent.began }),
  );
}

/** The event stream of the console. */
export function follow(world: World, random: Random): void {
  const person = random.pick(world.people);
  const thread = pickThread(world, random, person);
  if (thread === undefined || thread.organizationId !== person.organizationId) return;
  const ms = random.integer(15_000);
  const text = `the stream of ${person.email} on ${thread.title.value}`;
  const stream = async ({ threads }: NodeUseCases, { node }: Sent) => {
    const until = limited(node, ms);
    let latest: { id: string; isOver: boolean } | undefined;
    const knows = ({ id }: ReplyTruth) => latest?.id === id && latest.isOver;
    const release = hold(world, { text, process: node.process, thread, knows }, ms);
    try {
      const { principal } = inConsole(person);
      for await (const event of threads.follow(principal, thread.id, until)) {
        if (event.type === 'gone') return;
        const reply = event.type === 'view' ? event.view.status.activeMessageId : event.reply.id;
        if (event.type === 'view') {
          for await (const messages of event.parts) {
            const last = messages.at(-1)!;
            latest = { id: last.id, isOver: last.id !== reply };
          }
        }
      }
    } finally {
      release();
    }
  };
  send(world, random, `${text} for ${ms} ms`, stream);
}

/** Aborts after `ms`, or when the node stops. */
function limited({ timers, held }: SimulatedNode, ms: number): AbortSignal {
  const enough = new AbortController();
  held.add(enough);
  timers.after(ms, () => {
    held.delete(enough);
    enough.abort();
  });
  return enough.signal;
}

/** Keeps the request among those that must end within `ms`. Returns a function that removes it. */
function hold(world: World, held: Held, ms: number): () => void {
  world.held.add(held);
  const isOver = () => !world.held.has(held) || held.process.state === 'dead';
  world.expectWithin(ms + 2000, isOver, () =>
    world.oracle.expect(false, 'ends', () => `${held.text} is held for longer than ${ms} ms`),
  );
  return () => world.held.delete(held);
}

/** Requests that wait for this reply must learn that it has ended. */
export function replyEnded(world: World, reply: ReplyTruth): void {
  for (const held of world.held) {
    if (held.thread !== reply.thread) continue;
    const isOver = () => !world.held.has(held) || held.process.state === 'dead' || held.knows(reply);
    const isNews = () => reply.thread.replies.at(-1) === reply;
    const ms = held.text.startsWith('the wait') ? waitEndsWithinMs : streamLearnsWithinMs;
    world.expectWithin(
      ms,
      () => isOver() || !isNews(),
      () =>
        world.oracle.expect(
          false,
          'ends',
          () => `${held.text} did not learn that ${nameReply(reply)} has ended`,
        ),
    );
  }
}
