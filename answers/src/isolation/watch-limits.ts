import { Worker } from 'node:worker_threads';

/**
 * For a process that works for the service. Its work may keep it too busy to notice that the service was killed, or that it
 * uses too much memory, so a thread watches for both. The arguments of the process are the process id of the service, which
 * may be dead before this process has started, and the memory limit in MB. SIGUSR2 ends the process without a core dump.
 */
export function watchLimits(): void {
  const [service, megabytesMax] = process.argv.slice(2).map(Number);
  const isOrphan = `process.ppid !== ${service}`;
  const isTooLarge = `process.memoryUsage.rss() > ${megabytesMax} * 2 ** 20`;
  const signal = `${isOrphan} ? 'SIGKILL' : ${isTooLarge} && 'SIGUSR2'`;
  const watch = `setInterval(() => { const signal = ${signal}; if (signal) process.kill(process.pid, signal); }, 100);`;
  new Worker(watch, { eval: true }).unref();
}
