import { InvalidArgumentError, type Option } from 'commander';
import type { UseCases } from '../compose-use-cases.ts';
import type { Config } from '../config/config.ts';
import type { Initiator } from '../domain/audit.ts';
import type { OperatorAuthority } from '../domain/authority.ts';
import type { OrganizationId } from '../domain/id.ts';
import type { Organization } from '../domain/organization.ts';
import type { Table } from './output.ts';

/** The output of a command: one JSON value for `--json`, otherwise a text. */
export interface Result {
  readonly json: unknown;
  readonly text: string | readonly (string | Table)[];
  /** Says what to do if the output, which is shown once, cannot be written. */
  readonly ifLost?: string;
  /** Set if the result itself is a failure. */
  readonly exitCode?: number;
}

export interface Arguments<O = Options> {
  readonly positionals: readonly string[];
  readonly options: O;
}

/** By the flag's name in camel case: `--org-wide` is `orgWide`. A command states the types of its own options. */
export type Options = Readonly<Record<string, string | number | boolean | undefined>>;

export interface CommandLine {
  /** As it is typed: `org create`. */
  readonly name: string;
  /** The positional arguments as Commander writes them (`<ORG>`, `<FILE...>`, `[QUESTION]`), in order, and their meanings. */
  readonly arguments?: Readonly<Record<string, string>>;
  readonly options?: readonly Option[];
  /** The first sentence is also shown in the list of commands. A single sentence has no period. */
  readonly summary: string;
  /** Command lines without `skein`, shown in the help. */
  readonly examples: readonly string[];
  /** Throws a `UsageError` for options that do not fit together. Called before a store is opened. */
  check?(options: Options): void;
}

/** What a command on the store gets, in addition to its positional arguments. */
export interface StoreCall<O = Options> {
  readonly useCases: UseCases;
  /** The operator: all changes of one command share one trace ID. */
  readonly initiator: Initiator<OperatorAuthority>;
  readonly options: O;
}

/** A command on the store. It works with and without a running service. */
export interface StoreCommand extends CommandLine {
  /** Whether it creates a missing store. Other commands fail then, because they probably run in the wrong folder. */
  readonly createsStore?: boolean;
  run(call: StoreCall, ...positionals: string[]): Promise<Result>;
}

export interface OrganizationCall<O = Options> extends StoreCall<O> {
  readonly organization: Organization;
  readonly organizationId: OrganizationId;
}

/** A command on one organization, which its first argument names. `arguments` are those that follow. */
export function onOrganization(
  command: CommandLine & { run(call: OrganizationCall, ...positionals: string[]): Promise<Result> },
): StoreCommand {
  return {
    ...command,
    arguments: { '<ORG>': 'Id of an organization, or its name if the name is unique', ...command.arguments },
    async run(call, idOrName = '', ...positionals) {
      const organization = await call.useCases.organizations.find(idOrName);
      return command.run({ ...call, organization, organizationId: organization.id }, ...positionals);
    },
  };
}

/** A command on whole stores, which opens them itself. */
export interface BareCommand extends CommandLine {
  runAlone(args: Arguments, config: Config, environment: NodeJS.ProcessEnv): Promise<Result>;
}

/** The command line is invalid; the message says what is expected. */
export class UsageError extends Error {}

/** A command that does everything itself and returns its exit code. It has no `--json`. */
export interface ProcessCommand extends CommandLine {
  runProcess(args: Arguments): Promise<number>;
}

const largest = 999_999_999_999_999;

export function whole(min = 0, max = largest): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    const range = max === largest ? `, at least ${min}` : ` from ${min} to ${max}`;
    throw new InvalidArgumentError(`It must be an integer${range}.`);
  };
}

/** npm and npx repeat a Ctrl-C that the terminal has sent to every process. People take longer to press it again. */
const repeatedMs = 500;

/**
 * Calls `stop` on the first signal. A later one ends the process. The returned function removes the listeners, unless
 * `stop` was called.
 */
export function onStopSignal(
  signals: readonly NodeJS.Signals[],
  stop: (signal: NodeJS.Signals) => void,
): () => void {
  let isStopping = false;
  const release = () => {
    for (const signal of signals) process.off(signal, listener);
  };
  const listener = (signal: NodeJS.Signals) => {
    if (isStopping) return;
    isStopping = true;
    stop(signal);
    setTimeout(release, repeatedMs).unref();
  };
  for (const signal of signals) process.on(signal, listener);
  return () => {
    if (!isStopping) release();
  };
}
