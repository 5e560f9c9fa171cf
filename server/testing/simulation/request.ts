import { rateLimited, ServiceError } from '../../src/domain/errors.ts';
import type { UserPrincipal } from '../../src/domain/principal.ts';
import { StoreUnavailable } from './network.ts';
import type { NodeUseCases, SimulatedNode } from './node.ts';
import type { Random } from './random.ts';
import type { ThreadTruth } from './truth.ts';
import type { Person, World } from './world.ts';

/** The outcome of a request, as its caller sees it. `unavailable`: it may or may not have taken effect. */
export type Outcome<T> =
  | { readonly code: 'OK'; readonly value: T }
  | { readonly code: ServiceError['code'] | 'unavailable' };

/** Where and when a request was sent. */
export interface Sent {
  readonly node: SimulatedNode;
  /** The moment at which the request was sent. */
  readonly began: number;
}

/**
 * Sends a request to one of the running nodes and passes its outcome to `judge`. A request to a node that dies has no
 * outcome.
 */
export function send<T>(
  world: World,
  random: Random,
  text: string,
  handle: (useCases: NodeUseCases, sent: Sent) => Promise<T>,
  judge: (outcome: Outcome<T>, sent: Sent) => void = () => {},
): void {
  const running = world.nodes.filter(({ process, isStopping }) => process.state === 'running' && !isStopping);
  if (running.length === 0) return;
  const node = random.pick(running);
  const sent = { node, began: world.oracle.moment };
  const answered = (outcome: Outcome<T>) => {
    world.loop.note(`${node.process.name} answers ${outcome.code}: ${text}`);
    judge(outcome, sent);
  };
  const fail = (error: unknown) => {
    if (error instanceof ServiceError) return answered({ code: error.code });
    if (!(error instanceof StoreUnavailable)) world.unexpected(error);
    answered({ code: 'unavailable' });
  };
  world.loop.note(`${node.process.name} is asked: ${text}`);
  const run = () => handle(node.useCases, sent).then((value) => answered({ code: 'OK', value }), fail);
  world.loop.after(random.fraction() * 3, 'request', run, node.process);
}

/** A request with one of the person's keys, usually the latest, as http/authenticate.ts handles it. */
export function sendWithKey<T>(
  world: World,
  random: Random,
  person: Person,
  text: string,
  handle: (useCases: NodeUseCases, principal: UserPrincipal, sent: Sent) => Promise<T>,
  judge: (outcome: Outcome<T>, sent: Sent) => void = () => {},
): void {
  const hash = random.chance(0.9) ? person.keys.at(-1)! : random.pick(person.keys);
  const attempt = async (useCases: NodeUseCases, sent: Sent) => {
    const { granted, principal, resetSeconds } = await useCases.admission.admit({ kind: 'key', hash });
    if (!granted) throw rateLimited('The limit was exceeded.', resetSeconds);
    return handle(useCases, principal as UserPrincipal, sent);
  };
  send(world, random, `${person.email}: ${text}`, attempt, (outcome, sent) => {
    checkKey(world, hash, outcome, sent);
    judge(outcome, sent);
  });
}

function checkKey(world: World, hash: string, { code }: Outcome<unknown>, { began }: Sent): void {
  const { oracle } = world;
  const { live } = oracle.keys.get(hash)!;
  const did = code !== 'UNAUTHORIZED' && code !== 'unavailable';
  const wasLive = live.heldSince(began, (isLive) => isLive);
  const wasRevoked = live.heldSince(began, (isLive) => !isLive);
  oracle.expect(!did || wasLive, 'revoked', () => `a request with a revoked key was answered ${code}`);
  oracle.expect(code !== 'UNAUTHORIZED' || wasRevoked, 'revoked', () => 'a live key was rejected');
}

/** A thread that the person may know; rarely, one of another organization. */
export function pickThread(world: World, random: Random, person: Person): ThreadTruth | undefined {
  const isForeign = random.chance(0.05);
  const candidates = world.oracle.recent
    .slice(-40)
    .filter(
      ({ organizationId, deleted }) =>
        (organizationId === person.organizationId) !== isForeign && (!deleted.value || random.chance(0.1)),
    );
  return candidates.length === 0 ? undefined : random.pick(candidates);
}
