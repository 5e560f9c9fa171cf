import { readFileSync } from 'node:fs';
import { type InvalidValue, type StoreChoice, storeUrl } from '../config/parsers.ts';
import { UsageError } from './command.ts';

/**
 * The store that an option names: by its URL, by a variable (`env:NAME`) or by a file (`@FILE`) that holds the URL. Other
 * users of the machine can see a command line, and a URL may contain a password. For the same reason, no error repeats
 * what was given: it may be a URL behind the wrong prefix.
 */
export function storeAt(option: string, given: string, environment: NodeJS.ProcessEnv): StoreChoice {
  const [, name] = /^env:(\w+)$/.exec(given) ?? [];
  if (name !== undefined) return parse(`The variable for ${option}`, fromVariable(option, environment[name]));
  if (given.startsWith('@')) return parse(`The file for ${option}`, fromFile(option, given.slice(1)));
  return parse(option, given);
}

function fromVariable(option: string, text: string | undefined): string {
  if (text) return text;
  throw new UsageError(`The variable for ${option} is not set: export it with the URL of the store.`);
}

function fromFile(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`Cannot read the file for ${option} (${code}): write its path after @.`);
  }
}

/** `subject` starts the sentence that says what is wrong. */
function parse(subject: string, url: string): StoreChoice {
  // URLs may contain line breaks, which the driver would drop: a second line would become part of the first.
  if (/[\r\n]/.test(url)) throw new UsageError(`${subject} must be a single line with the URL of a store.`);
  try {
    return storeUrl(url);
  } catch (error) {
    throw new UsageError(`${subject} ${(error as InvalidValue).message}.`);
  }
}
