/**
 * Runs `skein` commands for tests in one process, one after another, so that Node.js is started only once. Each line of
 * standard input is a request, each line of standard output its outcome. The code is that of the real command, except for
 * `main.ts`.
 */
import { createInterface } from 'node:readline';
import { printError, runWords } from '../src/commands/run.ts';

interface Request {
  readonly words: readonly string[];
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
}

const streams = ['stdout', 'stderr'] as const;
const respond = process.stdout.write.bind(process.stdout);

for await (const line of createInterface({ input: process.stdin })) {
  const { words, folder, environment }: Request = JSON.parse(line);
  process.chdir(folder);
  const printed = { stdout: '', stderr: '' };
  for (const name of streams) {
    process[name].write = (text) => {
      printed[name] += text;
      return true;
    };
  }
  const exitCode = await runWords(words, environment).catch(printError);
  respond(`${JSON.stringify({ exitCode, ...printed })}\n`);
}
