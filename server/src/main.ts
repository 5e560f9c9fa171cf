import { printError, runWords } from './commands/run.ts';

const words = process.argv.slice(2);
// The reader of a pipe may close it early, as `head` does. That is not a failure.
if (words[0] !== 'serve')
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : printError(error));
  });
process.exitCode = await runWords(words, process.env).catch((error: unknown) => {
  // Exit immediately: a rejected connection to a store may stay open for a while.
  return process.exit(printError(error));
});
