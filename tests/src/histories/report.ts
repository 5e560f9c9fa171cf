import type { FuzzOutcome } from '../../harness/fuzz/fuzz-run.ts';
import type { RoundOutcome } from './round.ts';

const mebibyte = 2 ** 20;
/** The median of the last third may exceed that of the second third by this factor. */
const levelWithin = 1.2;

/** Collects the figures of a run and writes them as a page. */
export class Report {
  readonly violations: string[] = [];
  readonly #minutes: number;
  readonly #seed: number;
  readonly #startedAt = new Date();
  readonly #rounds = new Map<string, RoundOutcome[]>();
  readonly #memory: string[] = [];
  #simulations = { seeds: 0, steps: 0 };
  readonly #skipped: string[] = [];
  #fuzzed = { connections: 0, requests: 0 };

  constructor(minutes: number, seed: number) {
    this.#minutes = minutes;
    this.#seed = seed;
  }

  addSimulation(steps: number, violations: readonly string[]): void {
    this.#simulations = { seeds: this.#simulations.seeds + 1, steps: this.#simulations.steps + steps };
    this.addViolations('simulation', violations);
  }

  addRound(stage: string, outcome: RoundOutcome): void {
    this.#rounds.set(stage, [...(this.#rounds.get(stage) ?? []), outcome]);
    this.addViolations(stage, outcome.violations);
  }

  addFuzz({ connections, requests, failures }: FuzzOutcome): void {
    this.#fuzzed.connections += connections;
    this.#fuzzed.requests += requests;
    this.addViolations('fuzzed requests', failures);
  }

  /** A stage whose programs are not installed. */
  skip(stage: string): void {
    this.#skipped.push(stage);
  }

  /** Memory is level if it does not grow between the second and the last third of a soak. */
  addMemory(stage: string, samples: readonly number[]): void {
    const third = Math.floor(samples.length / 3);
    const [before, after] = [median(samples.slice(third, 2 * third)), median(samples.slice(2 * third))];
    const figures = `${(before / mebibyte).toFixed()} MiB in the second third, ${(after / mebibyte).toFixed()} MiB in the last`;
    this.#memory.push(`${stage}: ${figures}`);
    if (after > levelWithin * before) this.addViolations(stage, [`memory grows: ${figures}`]);
  }

  addViolations(stage: string, violations: readonly string[]): void {
    for (const violation of violations) {
      this.violations.push(`${stage}: ${violation}`);
      console.log(`Violation. ${stage}: ${violation}`);
    }
  }

  toMarkdown(): string {
    const all = [...this.#rounds.values()].flat();
    const total = (of: (outcome: RoundOutcome) => number) =>
      all.reduce((sum, outcome) => sum + of(outcome), 0);
    return `${[
      `Run of ${this.#startedAt.toISOString().slice(0, 10)}: ${this.#minutes} minutes, seed ${this.#seed}.`,
      '',
      `- Simulation: ${this.#simulations.steps} steps of ${this.#simulations.seeds} seeds.`,
      `- Recorded histories: ${total(({ calls }) => calls)} calls on ${total(({ threads }) => threads)} threads, ${total(({ walks }) => walks)} walks, ${total(({ revocations }) => revocations)} revocations.`,
      `- Fuzzed: ${this.#fuzzed.connections} connections with ${this.#fuzzed.requests} answered requests.`,
      ...this.#memory.map((line) => `- Memory, ${line}.`),
      ...this.#skipped.map((stage) => `- Not run, because its programs are not installed: ${stage}.`),
      `- Violations: ${this.violations.length}.`,
      '',
      table(
        ['Stage', 'Rounds', 'Calls', 'Without a result', 'Threads', 'Faults', 'Violations'],
        [...this.#rounds].map(([stage, rounds]) => [
          stage,
          rounds.length,
          sum(rounds.map(({ calls }) => calls)),
          sum(rounds.map(({ unknown }) => unknown)),
          sum(rounds.map(({ threads }) => threads)),
          sum(rounds.map(({ outages }) => outages.length)),
          sum(rounds.map(({ violations }) => violations.length)),
        ]),
      ),
      '',
      table(
        ['Fault', 'Times', 'Recovery, median', 'Recovery, longest'],
        [
          ...Map.groupBy(
            all.flatMap(({ outages }) => outages),
            ({ fault }) => fault,
          ),
        ].map(([fault, outages]) => {
          const times = outages.map(({ recoveryMs }) => recoveryMs);
          return [fault, times.length, `${median(times).toFixed()} ms`, `${Math.max(...times).toFixed()} ms`];
        }),
      ),
      ...this.violations.map((violation) => `\n- ${violation}`),
    ].join('\n')}\n`;
  }
}

function table(header: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
