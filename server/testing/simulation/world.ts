import { ModelError } from '../../../answers/src/index.ts';
import type { OrganizationId, UserId } from '../../src/domain/id.ts';
import type { Store } from '../../src/storage/port/store.ts';
import { EventLoop, type SimulatedProcess } from './event-loop.ts';
import type { Violation } from './invariants.ts';
import { openMemoryStore, openTransactions, Tables, type Transactions } from './memory-store/open.ts';
import { Answers, simulatedModel } from './model.ts';
import { type Batching, calm, Network } from './network.ts';
import { replyDeadlineMs, SimulatedNode } from './node.ts';
import { nameReply, Oracle } from './oracle.ts';
import { Random } from './random.ts';
import type { Held, ReplyTruth } from './truth.ts';

export interface Person {
  readonly organizationId: OrganizationId;
  readonly userId: UserId;
  readonly email: string;
  /** The hashes of their personal keys, the latest last. */
  readonly keys: string[];
  /** The hashes of their sessions in the console, the latest last. */
  readonly sessions: string[];
}

/** What a test may change to plant a bug. */
export interface Mutation {
  transactions?(transactions: Transactions, tables: Tables): Transactions;
  node?(node: SimulatedNode): void;
  batching?(batching: Batching): Batching;
}

/** What happens in a world. */
export interface Script {
  /** The action that chance picks, with its kind. */
  pickAction(
    random: Random,
    seed: number,
  ): readonly [kind: string, act: (world: World, random: Random) => void];
  /** Called when a reply has ended. */
  replyEnded(world: World, reply: ReplyTruth): void;
  /** Called when a reply ends the process that writes it. */
  crashNode(world: World, node: SimulatedNode): void;
}

export interface RunOptions {
  readonly seed: number;
  readonly steps: number;
  /** The plan ends before this action. */
  readonly actionsMax?: number;
  /** The numbers of the actions that happen; the others are left out. */
  readonly only?: ReadonlySet<number>;
  readonly mutation?: Mutation | undefined;
  readonly record?: (line: string) => void;
}

export interface RunResult {
  readonly hash: string;
  readonly steps: number;
  readonly simulatedMs: number;
  /** How many actions of the plan were reached. */
  readonly actions: number;
  readonly violation: Violation | undefined;
}

/** Starts shortly before a new day, when quotas reset. */
const startedAt = Date.UTC(2026, 10, 15, 23, 59, 54);
/** Long enough even for a backlog from a fault. */
const claimedWithinMs = 12_000;
/** How long a run continues after the last action of its plan, if the plan is shorter than its steps. */
const afterPlanMs = 10_000;
/** After this long without a fault everything that was started has ended. */
const settleMs = 2 * replyDeadlineMs + 15_000;

/** Several nodes, their database, callers, operators and faults, all from one seed. */
export class World {
  readonly loop = new EventLoop();
  readonly answers = new Answers();
  readonly oracle = new Oracle(this.loop, this.answers);
  readonly network: Network;
  readonly people: Person[] = [];
  readonly nodes: SimulatedNode[] = [];
  /** What the clocks are set to, relative to the time that has passed. */
  readonly clockOffsetMs = { store: 0, nodes: 0 };
  readonly random: Random;
  /** When the last fault began or ended. */
  troubleMs = 0;
  faults = 0;
  settling = false;
  isSettingClock = false;
  /** Waits and streams. */
  readonly held = new Set<Held>();
  readonly #transactions: Transactions;
  readonly #options: RunOptions;
  readonly #script: Script;
  #started = 0;
  #numbers = 0;
  #isPlanOver = false;

  constructor(options: RunOptions, script: Script) {
    this.#options = options;
    this.#script = script;
    this.random = new Random(options.seed, 1);
    if (options.record) this.loop.record = options.record;
    const tables = new Tables({ wall: () => this.#wall('store'), steady: () => this.loop.nowMs });
    const transactions = openTransactions(tables);
    this.#transactions = options.mutation?.transactions?.(transactions, tables) ?? transactions;
    this.oracle.healthyMs = this.healthyMs;
    this.oracle.onEnd = (reply) => script.replyEnded(this, reply);
    this.oracle.onWaiting = (reply) => this.#expectProgress(reply);
    const { batching } = options.mutation ?? {};
    this.network = new Network(this.loop, new Random(options.seed, 2), this.oracle.observe, batching);
  }

  #wall(of: 'store' | 'nodes'): number {
    return Math.floor(startedAt + this.loop.nowMs + this.clockOffsetMs[of]);
  }

  /** Runs the plan for as many steps as asked, then heals every fault and lets everything end. */
  async run(): Promise<RunResult> {
    const { steps } = this.#options;
    await this.#populate();
    this.#plan(0);
    const goesOn = () => !this.#isPlanOver && this.loop.steps < steps;
    while (goesOn() && this.oracle.violation === undefined) await this.loop.step();
    const planned = this.#started;
    await this.#settle();
    const { hash, nowMs } = this.loop;
    const { violation } = this.oracle;
    return { hash, steps: this.loop.steps, simulatedMs: nowMs, actions: planned, violation };
  }

  async startNode(place: number): Promise<void> {
    const process: SimulatedProcess = { name: `node ${place + 1}`, state: 'running', held: [] };
    const random = new Random(this.#options.seed, 100 + this.loop.steps * 8 + place);
    const timers = this.loop.createTimers(process, random);
    const link = this.network.link(process);
    const model = (meetPoison: () => Promise<never>) =>
      simulatedModel(this.answers, timers, random, meetPoison);
    const crash = () => {
      this.#script.crashNode(this, node);
      return new Promise<never>(() => {});
    };
    const outlive = async () => {
      throw new ModelError('The simulated process ended.', { transient: true });
    };
    const node: SimulatedNode = new SimulatedNode({
      ...{ process, timers, random, role: place === 0 ? 'api' : 'all', wall: () => this.#wall('nodes') },
      store: openMemoryStore(this.#transactions, { wall: Date.now, steady: timers.steadyMs }, link) as Store,
      models: { usual: model(crash), suspects: model(outlive) },
      unexpected: (error) => this.unexpected(error),
    });
    this.#options.mutation?.node?.(node);
    this.nodes[place] = node;
    await node.start();
  }

  unexpected(error: unknown): void {
    const detail = () => (error instanceof Error ? (error.stack ?? error.message) : String(error));
    this.oracle.expect(false, 'errors', detail);
  }

  /** For how long there has been no fault. */
  readonly healthyMs = (): number => (this.faults > 0 ? 0 : this.loop.nowMs - this.troubleMs);

  /** Checks that something is true within `ms` of uninterrupted health. */
  expectWithin(ms: number, isTrue: () => boolean, violated: () => void): void {
    const check = () => {
      if (isTrue()) return;
      const healthyMs = this.healthyMs();
      if (healthyMs >= ms) violated();
      else this.loop.after(ms - healthyMs + 1, 'expectation', check);
    };
    this.loop.after(ms, 'expectation', check);
  }

  #expectProgress(reply: ReplyTruth): void {
    const isClaimed = () =>
      reply.claim !== undefined || reply.ended !== undefined || reply.retries + reply.lostClaims.length > 0;
    const stuck = (what: string) => this.oracle.expect(false, 'ends', () => `${nameReply(reply)} ${what}`);
    this.expectWithin(claimedWithinMs, isClaimed, () => stuck('is not claimed by any worker'));
    const isOver = () => reply.ended !== undefined;
    this.expectWithin(replyDeadlineMs + 3000, isOver, () => stuck('runs past its deadline'));
  }

  /** Three organizations with two people each, and the nodes. */
  async #populate(): Promise<void> {
    const store = this.#transactions;
    const observed = <Method extends keyof Transactions>(method: Method, ...args: unknown[]) => {
      const result = (store[method] as (...args: unknown[]) => unknown)(...args);
      this.oracle.observe({ name: 'operator', state: 'running', held: [] }, method, args, result);
      return result;
    };
    const note = {
      id: 'evt_0',
      authority: { kind: 'operator' },
      traceId: '',
      action: 'organization.created',
    } as const;
    const noted = { ...note, subject: '', detail: {} };
    for (const [place, name] of ['ant', 'bee', 'cat'].entries()) {
      const organizationId = `org_${name}` as OrganizationId;
      const dailyQuota = place === 0 ? 30 : 1_000_000;
      observed('createOrganization', { id: organizationId, name, apiEnabled: true, dailyQuota }, noted);
      for (const who of ['ada', 'ben']) {
        const userId = `usr_${name}_${who}` as UserId;
        const email = `${who}@${name}.example`;
        const hash = `hash of ${email} 0`;
        observed(
          'addMember',
          organizationId,
          { candidateUserId: userId, email, role: 'member', service: true, membersMax: 10_000 },
          noted,
        );
        observed(
          'createApiKey',
          organizationId,
          { id: `key_${hash}`, hash, hint: '', name: '', userId, createdBy: null },
          noted,
        );
        const sessions = [`session of ${email} 0`];
        const session = { tokenHash: sessions[0]!, userId, passwordHash: null, idleMs: 0, lifeMs: 0 };
        observed('createSession', session, { ...noted, authority: { kind: 'proof', userId } });
        this.people.push({ organizationId, userId, email, keys: [hash], sessions });
      }
    }
    for (const place of [0, 1, 2]) await this.startNode(place);
  }

  /** Action `number` depends on the seed and on its number only, so that leaving out others does not change it. */
  #plan(number: number): void {
    if (number === this.#options.actionsMax) {
      this.loop.after(afterPlanMs, 'the plan ends', () => {
        this.#isPlanOver = true;
      });
      return;
    }
    const random = new Random(this.#options.seed, -1 - number);
    this.loop.after(random.fraction() ** 2 * 100, 'action', () => {
      if (this.settling) return;
      this.#started = number + 1;
      this.#plan(number + 1);
      const { only } = this.#options;
      if (only !== undefined && !only.has(number)) return;
      const [kind, act] = this.#script.pickAction(random, this.#options.seed);
      this.loop.record(`           #${number} ${kind}`);
      act(this, random);
    });
  }

  async #settle(): Promise<void> {
    this.settling = true;
    Object.assign(this.network.weather, calm());
    this.network.weather.cutOff.clear();
    this.clockOffsetMs.store = Math.max(0, this.clockOffsetMs.store);
    this.faults = 0;
    this.troubleMs = this.loop.nowMs;
    for (const [place, { process, isStopping }] of this.nodes.entries()) {
      if (process.state === 'paused') this.loop.resume(process);
      if (isStopping) process.state = 'dead';
      if (process.state === 'dead') await this.startNode(place);
    }
    const untilMs = this.loop.nowMs + settleMs;
    const held = () => [...this.held].filter(({ process }) => process.state !== 'dead');
    const isQuiet = () => this.oracle.running.size === 0 && held().length === 0;
    while (!isQuiet() && this.loop.nowMs < untilMs && this.oracle.violation === undefined) {
      await this.loop.step();
    }
    const [stuck] = this.oracle.running;
    if (stuck !== undefined) this.oracle.expect(false, 'ends', () => `${nameReply(stuck)} does not end`);
    const [open] = held();
    if (open !== undefined) this.oracle.expect(false, 'ends', () => `${open.text} does not end`);
    for (const { id, organizationId } of this.oracle.threads.values()) {
      const found = this.#transactions.getThread(organizationId, id);
      this.oracle.observe(this.nodes[0]!.process, 'getThread', [organizationId, id], found);
    }
  }

  /** For names of prompts and titles. */
  nextNumber(): number {
    this.#numbers += 1;
    return this.#numbers;
  }
}
