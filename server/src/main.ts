import { printError, runWords } from './commands/run.ts';

const words = process.argv.slice(2);
if (words[0] !== 'serve') endWithReader();
process.exitCode = await runWords(words, process.env).catch((error: unknown) => {
  // Exit immediately: a rejected connection to a store may stay open for a while.
  return process.exit(printError(error));
});

/** The reader of a pipe may close it early, as `head` does. That is not a failure. */
function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : printError(error));
  });
}
