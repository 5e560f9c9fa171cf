import { readFileSync, writeFileSync } from 'node:fs';

const ticksPerSecond = 100;

/** Memory and processor time of one process on Linux; NaN elsewhere. Child processes do not count. */
export class ProcessUsage {
  readonly #pid: number;
  readonly #residentMb: number;
  readonly #cpuSeconds: number;
  readonly #waitedSeconds: number;

  constructor(pid: number) {
    this.#pid = pid;
    // Resets the high-water mark, so that it covers only the time from now on.
    attempt(() => writeFileSync(`/proc/${pid}/clear_refs`, '5'));
    this.#residentMb = memoryMb(pid, 'VmRSS');
    this.#cpuSeconds = cpuSeconds(pid);
    this.#waitedSeconds = waitedSeconds(pid);
  }

  /** The peak memory since the start, above the memory at the start. */
  get grownMb(): number {
    return memoryMb(this.#pid, 'VmHWM') - this.#residentMb;
  }

  get cpuSeconds(): number {
    return cpuSeconds(this.#pid) - this.#cpuSeconds;
  }

  /** How long the main thread was ready to run and other programs or threads had the processors. */
  get waitedSeconds(): number {
    return waitedSeconds(this.#pid) - this.#waitedSeconds;
  }
}

function memoryMb(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = attempt(() => readFileSync(`/proc/${pid}/status`, 'utf8')) ?? '';
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? Number.NaN) / 1024;
}

/** User and system time: fields 14 and 15 of /proc/PID/stat. */
function cpuSeconds(pid: number): number {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** The second field of schedstat, in nanoseconds. */
function waitedSeconds(pid: number): number {
  const schedstat = attempt(() => readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8'));
  return Number(schedstat?.split(' ')[1] ?? Number.NaN) / 1e9;
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
