import type { ParseArgsConfig } from 'node:util';
import type { Config } from '../config/config.ts';
import type { SurfaceContext } from '../usecases/surface-context.ts';

/** The output of a command: one JSON value for `--json`, otherwise a text. */
export interface Result {
  readonly json: unknown;
  readonly text: string;
  /** Set if the result itself is a failure. */
  readonly exitCode?: number;
}

export interface Arguments {
  readonly positionals: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
}

/** The syntax and description of a command. */
export interface CommandLine {
  /** As it is typed: `org create`. */
  readonly name: string;
  /** What follows the name, as the help shows it. */
  readonly usage: string;
  readonly summary: string;
  /** Names of the positional arguments, required unless in brackets; a last one that ends in `…` may be repeated. */
  readonly positionals: readonly string[];
  readonly options?: NonNullable<ParseArgsConfig['options']>;
}

/** A command on the store. It works with and without a running service. */
export interface StoreCommand extends CommandLine {
  /** Whether it creates a missing store. Other commands fail then, because they probably run in the wrong folder. */
  readonly createsStore?: boolean;
  run(context: SurfaceContext, args: Arguments, config: Config): Promise<Result>;
}

/** A command on whole stores, which opens them itself. */
export interface BareCommand extends CommandLine {
  runAlone(args: Arguments, config: Config): Promise<Result>;
}

/** The command line is invalid; the message says what is expected. */
export class UsageError extends Error {}

/** The positional argument at `index`; `parseArguments` has checked their number. */
export function positional({ positionals }: Arguments, index: number): string {
  return positionals[index] as string;
}

export function optionText({ options }: Arguments, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

export function optionChoice<T extends string>(
  args: Arguments,
  name: string,
  choices: readonly T[],
): T | undefined {
  const value = optionText(args, name);
  if (value === undefined || choices.includes(value as T)) return value as T | undefined;
  throw new UsageError(`--${name} must be ${choices.join(' or ')}, and is '${value}'.`);
}

export function optionWhole(args: Arguments, name: string): number | undefined {
  const value = optionText(args, name);
  if (value === undefined) return undefined;
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new UsageError(`--${name} must be a whole number, and is '${value}'.`);
}

/** `1 passage`, `2 passages`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Replaces control characters, which could move the cursor or break the line. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '\uFFFD');
}

/** The same for a text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** Pads columns to their longest cell. Returns `whenEmpty` for an empty table. */
export function table(rows: readonly (readonly string[])[], whenEmpty: string): string {
  if (rows.length === 0) return whenEmpty;
  const printed = rows.map((row) => row.map(printable));
  const widths = printed[0]!.map((_, column) => Math.max(...printed.map((row) => row[column]!.length)));
  return printed
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
