/**
 * Runs the operator's commands for tests in one process, one after another: the set-up of a test file then takes one
 * start of Node.js instead of one for every command. Each line of standard input is a request, each line of standard output its
 * outcome. Commands whose own behaviour is tested run as the real `skein` command instead.
 */
import { createInterface } from 'node:readline';
import { runCommandLine } from '../src/commands/command-line.ts';
import { loadStoreSections, runStoreCommand } from '../src/commands/store-commands.ts';

interface Request {
  readonly words: readonly string[];
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { words, folder, environment }: Request = JSON.parse(line);
  process.chdir(folder);
  const outcome = await run(words, environment).catch((error: Error) => ({ error: error.message }));
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}

async function run(words: readonly string[], environment: NodeJS.ProcessEnv): Promise<object> {
  let outcome: object = { error: 'no command ran' };
  await runCommandLine(await loadStoreSections(), words, async (command, args) => {
    const { json, exitCode = 0 } = await runStoreCommand(command, args, environment);
    outcome = exitCode === 0 ? { json } : { error: `exit code ${exitCode}: ${JSON.stringify(json)}` };
  });
  return outcome;
}
