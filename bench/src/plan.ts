import { parseArgs } from 'node:util';
import type { RoundSettings } from './rounds.ts';

/** The parts of the benchmark, in the order in which they run. */
export const parts = [
  'get',
  'list',
  'list-deep',
  'list-account',
  'list-org-wide',
  'create',
  'rename',
  'get-application',
  'sync',
  'walk',
  'replies',
  'headers',
  'neighbors',
  'soak',
  'growth',
  'postgres',
  'where',
  'answers',
  'peers',
  'start',
] as const;
export type Part = (typeof parts)[number];

const leftOutWhenQuick: readonly Part[] = [
  'walk',
  'replies',
  'headers',
  'neighbors',
  'soak',
  'postgres',
  'where',
  'answers',
];

/** Runs only if it is named, because it installs other servers from the registry. */
const onRequest: readonly Part[] = ['peers'];

export interface Plan {
  readonly parts: ReadonlySet<Part>;
  readonly isQuick: boolean;
  /** Threads in the store on which the operations are measured. */
  readonly threads: number;
  /** Threads in the large store. The small one has `smallThreads`. */
  readonly largeThreads: number;
  readonly smallThreads: number;
  /** Threads in the large database. The small one has `smallThreads`. */
  readonly largeDatabaseThreads: number;
  readonly settings: RoundSettings;
  /** Replies in progress at once. */
  readonly replies: number;
  readonly syncSeconds: number;
  readonly profileSeconds: number;
  readonly soakMinutes: number;
  /** How long each noise lasts, in up to three rounds. */
  readonly neighborSeconds: number;
}

const quick: Omit<Plan, 'parts'> = {
  isQuick: true,
  threads: 2_000,
  largeThreads: 20_000,
  smallThreads: 1_000,
  largeDatabaseThreads: 20_000,
  settings: { connections: 64, rounds: 3, seconds: 0.15, warmUpSeconds: 0.1 },
  replies: 1_000,
  syncSeconds: 0.2,
  profileSeconds: 1,
  soakMinutes: 1,
  neighborSeconds: 2,
};

const full: Omit<Plan, 'parts'> = {
  isQuick: false,
  threads: 10_000,
  largeThreads: 1_000_000,
  smallThreads: 1_000,
  largeDatabaseThreads: 100_000,
  settings: { connections: 64, rounds: 9, seconds: 1, warmUpSeconds: 2 },
  replies: 10_000,
  syncSeconds: 2,
  profileSeconds: 5,
  soakMinutes: 10,
  neighborSeconds: 15,
};

const usage = `npm run bench -- [--quick] [--only PART,PART…] [--minutes N]

  --quick   takes less than a minute: small stores, short rounds, rough figures; leaves out ${leftOutWhenQuick.join(', ')}
  --only    runs only these parts: ${parts.join(', ')} (${onRequest.join(', ')} runs only if named)
  --minutes sets how long the soak takes
`;

/** Returns undefined after printing the usage if the arguments are invalid. */
export function readPlan(words: string[]): Plan | undefined {
  try {
    const { values } = parseArgs({
      args: words,
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string' },
        minutes: { type: 'string' },
      },
    });
    const chosen: readonly string[] =
      values.only?.split(',') ??
      parts.filter((part) => !onRequest.includes(part) && !(values.quick && leftOutWhenQuick.includes(part)));
    const unknown = chosen.filter((name) => !parts.some((part) => part === name));
    if (unknown.length > 0) throw new Error(`Unknown part: ${unknown.join(', ')}.`);
    const plan = values.quick ? quick : full;
    const soakMinutes = values.minutes === undefined ? plan.soakMinutes : Number(values.minutes);
    if (!(soakMinutes > 0))
      throw new Error(`--minutes is ${values.minutes}, which is not a positive number.`);
    return { ...plan, soakMinutes, parts: new Set(chosen as Part[]) };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    return undefined;
  }
}
