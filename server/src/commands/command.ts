import type { Config } from '../config/config.ts';
import type { Initiator } from '../domain/audit.ts';
import { ServiceError } from '../domain/errors.ts';
import type { OrganizationId } from '../domain/id.ts';
import type { Organization } from '../domain/organization.ts';
import { findOrganization } from '../usecases/organization/organization.ts';
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
  readonly options: Options;
}

export type Options = Readonly<Record<string, string | boolean | undefined>>;

/** The syntax and description of a command. */
export interface CommandLine {
  /** As it is typed: `org create`. */
  readonly name: string;
  /**
   * What follows the name, as the help shows it: `ORG FILE… [--role admin|member] [--service]`. Arguments are parsed
   * accordingly: a word in brackets is optional, `…` means one or more, and an option without a word after it is a switch.
   */
  readonly usage: string;
  readonly summary: string;
  /** Throws a `UsageError` for options that do not fit together. Called before a store is opened. */
  check?(options: Options): void;
}

/** What a command on the store is called with, besides its positional arguments. */
export interface StoreCall {
  readonly context: SurfaceContext;
  readonly config: Config;
  /** The operator: all changes of one command share one trace id. */
  readonly initiator: Initiator;
  readonly options: Options;
}

/** A command on the store. It works with and without a running service. */
export interface StoreCommand extends CommandLine {
  /** Whether it creates a missing store. Other commands fail then, because they probably run in the wrong folder. */
  readonly createsStore?: boolean;
  run(call: StoreCall, ...positionals: string[]): Promise<Result>;
}

export interface OrganizationCall extends StoreCall {
  readonly organization: Organization;
  readonly organizationId: OrganizationId;
}

/** A command on one organization, which its first argument names. */
export function onOrganization(
  command: CommandLine & { run(call: OrganizationCall, ...positionals: string[]): Promise<Result> },
): StoreCommand {
  return {
    ...command,
    async run(call, idOrName = '', ...positionals) {
      const organization = await findOrganization(call.context, idOrName);
      return command.run({ ...call, organization, organizationId: organization.id }, ...positionals);
    },
  };
}

/** A command on whole stores, which opens them itself. */
export interface BareCommand extends CommandLine {
  runAlone(args: Arguments, config: Config): Promise<Result>;
}

/** The command line is invalid; the message says what is expected. */
export class UsageError extends Error {}

/** The error of a command that cannot be carried out. The message says why, and what to do. */
export function refusal(message: string): ServiceError {
  return new ServiceError('INVALID_PARAMS', message);
}

export function optionText({ options }: { options: Options }, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

export function optionWhole(
  call: { options: Options },
  name: string,
  min = 0,
  max = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const text = optionText(call, name);
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`--${name} must be a whole number, and is '${text}'.`);
  const value = Number(text);
  if (value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `${min} to ${max}`;
  throw new UsageError(`--${name} must be ${range}.`);
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
