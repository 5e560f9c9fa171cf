import { Worker } from 'node:worker_threads';

// The program of a reading process. This thread watches the limits and never touches a document. Another thread runs the
// parsers, which may keep it too busy to notice that the service was killed, or that the process uses too much memory.

const [service, heapMb, processMb] = process.argv.slice(2, 5).map(Number) as [number, number, number];
const program = process.argv[5]!;

const thread = new Worker(new URL(program), {
  // A thread that may start threads can start one with `execArgv: []`, to which Node.js applies no restriction at all.
  execArgv: process.execArgv.filter((flag) => flag !== '--allow-worker'),
  resourceLimits: { maxOldGenerationSizeMb: heapMb },
});
let isTooLarge = false;
thread.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') endForMemory();
});
thread.on('exit', (code) => {
  if (!isTooLarge) process.exit(code);
});

setInterval(() => {
  // The service may have been killed before this process started.
  if (process.ppid !== service) process.kill(process.pid, 'SIGKILL');
  if (process.memoryUsage.rss() > processMb * 2 ** 20) endForMemory();
}, 100);

/** SIGUSR2 ends the process without a core dump, but possibly only after this function has returned. */
function endForMemory(): void {
  isTooLarge = true;
  process.kill(process.pid, 'SIGUSR2');
}
