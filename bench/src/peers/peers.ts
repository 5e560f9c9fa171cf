import { loadavg } from 'node:os';
import { join } from 'node:path';
import { startBareServer } from '../bare.ts';
import { type LoadResult, load, type Request, type Target } from '../load.ts';
import type { Plan } from '../plan.ts';
import { removeFolder, temporaryFolder } from '../processes.ts';
import { median } from '../rounds.ts';
import { micros, printTable, rate, ratio, say } from '../table.ts';
import type { Contender, RunningService, SeededContender } from './contender.ts';
import { install } from './install.ts';
import { type Survival, surviveKill } from './kill.ts';
import { langgraph } from './langgraph.ts';
import { libsqlPeers, toContender } from './libsql-peers.ts';
import { idleMebibytes, measureReplies } from './replies.ts';
import { skein, skeinWithoutReplies } from './skein.ts';

const connections = 32;
const operations = ['get', 'list', 'deep list', 'create', 'rename'] as const;
type Operation = (typeof operations)[number];

interface Sizes {
  readonly small: number;
  readonly middle: number;
  readonly large: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly killed: number;
}

const full: Sizes = { small: 1_000, middle: 10_000, large: 100_000, rounds: 3, seconds: 2, killed: 200 };
const quick: Sizes = { small: 1_000, middle: 2_000, large: 10_000, rounds: 1, seconds: 0.5, killed: 50 };

/** Figures of one contender; a missing one could not be measured. */
interface Figures {
  readonly perSecond: Partial<Record<Operation | 'replies', number>>;
  /** Processor time of a request, which other load on the machine hardly affects. */
  readonly cpuMicros: Partial<Record<Operation | 'replies', number>>;
  readonly growth: Partial<Record<Operation, number>>;
  readyMs?: number;
  mebibytes?: number;
  survival?: Survival;
}

/**
 * Runs the same workload against Skein and against other open source servers that keep conversations, each as its
 * documentation says to run it. Failed measurements are left out and printed below the tables.
 */
export async function measurePeers(plan: Plan): Promise<void> {
  const sizes = plan.isQuick ? quick : full;
  const failures = new Failures();
  const contenders = await installAll(failures);
  const figures = new Map<string, Figures>(
    contenders.map(({ name }) => [name, { perSecond: {}, cpuMicros: {}, growth: {} }]),
  );
  say(`Load average before: ${loadavg()[0]?.toFixed(1)}.`);
  const bare = await measureOperations(contenders, sizes, figures, failures);
  const replying = contenders.filter(({ repliesAsked }) => repliesAsked > 0);
  await measureGrowth(replying, sizes, figures, failures);
  for (const contender of replying) {
    await failures.attempt(`${contender.name}, killed`, async () => {
      figures.get(contender.name)!.survival = await inFolder((folder) =>
        surviveKill(contender, folder, sizes.killed),
      );
    });
  }
  printFigures(figures, new Set(replying.map(({ name }) => name)), bare, sizes);
  failures.print();
  say(`Load average after: ${loadavg()[0]?.toFixed(1)}.`);
}

/** Collects what could not be measured, so that one peer's failure does not end the run. */
class Failures {
  readonly #sentences: string[] = [];

  async attempt<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    process.stderr.write(`${what}\n`);
    try {
      return await work();
    } catch (error) {
      this.#sentences.push(`${what}: ${(error as Error).message}`);
      return undefined;
    }
  }

  print(): void {
    for (const sentence of this.#sentences) say(`Not measured. ${sentence}`);
  }
}

async function installAll(failures: Failures): Promise<Contender[]> {
  const contenders = [skein, skeinWithoutReplies];
  await failures.attempt('Installing LangGraph', async () => {
    contenders.push(langgraph(await install('langgraph')));
  });
  for (const peer of libsqlPeers) {
    await failures.attempt(`Installing ${peer.name}`, async () => {
      contenders.push(toContender(peer, await install(peer.peer)));
    });
  }
  return contenders;
}

interface Running {
  readonly contender: Contender;
  readonly seeded: SeededContender;
  readonly service: RunningService;
}

/** All contenders run at the same time and take turns, so that other load on the machine affects all of them alike. */
async function measureOperations(
  contenders: readonly Contender[],
  { middle, rounds, seconds }: Sizes,
  figures: ReadonlyMap<string, Figures>,
  failures: Failures,
): Promise<number | undefined> {
  const running: Running[] = [];
  const folder = temporaryFolder();
  for (const contender of contenders) {
    await failures.attempt(contender.name, async () => {
      const seeded = await contender.seed(join(folder, contender.name.replace(/\W+/g, '-')), middle);
      const service = await seeded.start({});
      const own = figures.get(contender.name)!;
      own.readyMs = service.readyMs;
      own.mebibytes = await idleMebibytes(service);
      running.push({ contender, seeded, service });
    });
  }
  let bare: number | undefined;
  for (const operation of operations) {
    const measured = new Map<string, LoadResult[]>();
    const turn = async (name: string, target: Target, requests: readonly Request[], isCounted: boolean) => {
      const result = await failures.attempt(`${name}, ${operation}`, () =>
        load(target, requests, { connections, seconds }),
      );
      if (isCounted && result) measured.set(name, [...(measured.get(name) ?? []), result]);
    };
    const bareServer =
      operation === 'get' && running[0] !== undefined
        ? await startBareServer(running[0].service, running[0].seeded.get[0]!)
        : undefined;
    const requests = await Promise.all(
      running.map(({ seeded, service }) => prepareRequests(operation, seeded, service, middle)),
    );
    for (let round = 0; round <= rounds; round += 1) {
      for (const [index, { contender, service }] of running.entries())
        await turn(contender.name, service, requests[index]!, round > 0);
      if (bareServer) await turn('bare', bareServer, running[0]!.seeded.get, round > 0);
    }
    for (const { contender } of running) {
      const results = measured.get(contender.name);
      if (results === undefined) continue;
      const own = figures.get(contender.name)!;
      own.perSecond[operation] = median(results.map(({ requestsPerSecond }) => requestsPerSecond));
      own.cpuMicros[operation] = median(results.map(({ cpuMicros }) => cpuMicros));
    }
    if (bareServer)
      bare = median((measured.get('bare') ?? []).map(({ requestsPerSecond }) => requestsPerSecond));
    await bareServer?.stop();
  }
  for (const { contender, seeded, service } of running) {
    if (contender.repliesAsked === 0) continue;
    await failures.attempt(`${contender.name}, replies`, async () => {
      const replies = await measureReplies(seeded, service, contender.repliesAsked, connections);
      figures.get(contender.name)!.perSecond.replies = replies.perSecond;
      figures.get(contender.name)!.cpuMicros.replies = replies.cpuMicros;
    });
  }
  for (const { service } of running) await service.stop('SIGKILL');
  removeFolder(folder);
  return bare;
}

/** The depth of a deep page: not beyond the window of 10,000 threads that Skein's listings have. */
function chooseDepth(threads: number): number {
  return Math.min(9_000, Math.floor(threads * 0.45));
}

async function prepareRequests(
  operation: Operation,
  seeded: SeededContender,
  service: Target,
  threads: number,
): Promise<readonly Request[]> {
  if (operation === 'list') return seeded.list(service, 0);
  if (operation === 'deep list') return seeded.list(service, chooseDepth(threads));
  return seeded[operation];
}

/** Each contender on a small and a large store at the same time, taking turns. */
async function measureGrowth(
  contenders: readonly Contender[],
  { small, large, rounds, seconds }: Sizes,
  figures: ReadonlyMap<string, Figures>,
  failures: Failures,
): Promise<void> {
  for (const contender of contenders) {
    const services: RunningService[] = [];
    await failures.attempt(`${contender.name}, ${large.toLocaleString('en')} threads`, () =>
      inFolder(async (folder) => {
        const sides = [];
        for (const threads of [small, large]) {
          const seeded = await contender.seed(join(folder, String(threads)), threads);
          const service = await seeded.start({});
          services.push(service);
          sides.push({ seeded, service, threads });
        }
        for (const operation of ['get', 'list', 'deep list'] as const) {
          const ratios: number[] = [];
          for (let round = 0; round <= rounds; round += 1) {
            const results: LoadResult[] = [];
            for (const { seeded, service, threads } of sides) {
              const requests = await prepareRequests(operation, seeded, service, threads);
              results.push(await load(service, requests, { connections, seconds: seconds / 2 }));
            }
            if (round > 0) ratios.push(results[0]!.requestsPerSecond / results[1]!.requestsPerSecond);
          }
          figures.get(contender.name)!.growth[operation] = median(ratios);
        }
      }),
    );
    for (const service of services) await service.stop('SIGKILL');
  }
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = temporaryFolder();
  try {
    return await work(folder);
  } finally {
    removeFolder(folder);
  }
}

function printFigures(
  figures: ReadonlyMap<string, Figures>,
  replying: ReadonlySet<string>,
  bare: number | undefined,
  sizes: Sizes,
): void {
  const ofReplying = [...figures].filter(([name]) => replying.has(name));
  const shown = <T>(value: T | undefined, show: (value: T) => string) =>
    value === undefined ? '–' : show(value);
  const count = (value: number) => value.toLocaleString('en');
  printTable(
    `Requests per second, ${count(sizes.middle)} threads, ${connections} connections`,
    ['', ...operations, 'create + reply finished', 'ready, s', 'idle, MB'],
    [
      ['bare `node:http`, the bytes of a get', shown(bare, rate), ...Array<string>(7).fill('')],
      ...[...figures].map(([name, { perSecond, readyMs, mebibytes }]) => [
        name,
        ...operations.map((operation) => shown(perSecond[operation], rate)),
        shown(perSecond.replies, rate),
        shown(readyMs, (value) => (value / 1000).toFixed(2)),
        shown(mebibytes, rate),
      ]),
    ],
  );
  printTable(
    'Processor time per request, µs',
    ['', ...operations, 'create + reply finished'],
    [...figures].map(([name, { cpuMicros }]) => [
      name,
      ...[...operations, 'replies' as const].map((operation) => shown(cpuMicros[operation], micros)),
    ]),
  );
  printTable(
    `Slower by, ${count(sizes.large)} threads against ${count(sizes.small)}`,
    ['', 'get', 'list', 'deep list'],
    ofReplying.map(([name, { growth }]) => [
      name,
      ...(['get', 'list', 'deep list'] as const).map((operation) => shown(growth[operation], ratio)),
    ]),
  );
  printTable(
    `${sizes.killed} replies, the process killed at half-time and started again`,
    ['', 'accepted', 'finished after the restart'],
    ofReplying.map(([name, { survival }]) => [
      name,
      shown(survival, ({ accepted }) => rate(accepted)),
      shown(survival, ({ finished }) => rate(finished)),
    ]),
  );
}
