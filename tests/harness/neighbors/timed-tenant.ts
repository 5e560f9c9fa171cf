import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { type Neighborhood, sessionHeaders } from './neighborhood.ts';

export type Operation = 'get' | 'list' | 'create' | 'upload';

export interface Figures {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** The input of the timing process. */
export interface TimedOrder {
  readonly baseUrl: string;
  readonly key: string;
  readonly organizationId: string;
  readonly sessionHeaders: Record<string, string>;
  readonly intervalFactor: number;
}

/** The results of the timing process. */
export interface TimedReport {
  readonly figures: Readonly<Record<Operation, Figures>>;
  /** Requests that failed or got a wrong response. */
  readonly faults: readonly string[];
}

/** Sends and times the quiet tenant's requests in a separate process. */
export class TimedTenant {
  readonly #child: ChildProcess;
  readonly #intervalFactor: number;

  /** `intervalFactor` stretches the time between two requests, for a run in which latency does not matter. */
  constructor(intervalFactor = 1) {
    this.#intervalFactor = intervalFactor;
    this.#child = fork(join(import.meta.dirname, 'timed-tenant-process.ts'), { stdio: 'inherit' });
    const killAtExit = () => this.#child.kill('SIGKILL');
    process.once('exit', killAtExit);
    this.#child.once('exit', () => process.removeListener('exit', killAtExit));
  }

  async start({ service: { baseUrl }, quiet }: Neighborhood): Promise<void> {
    const { key, organizationId } = quiet;
    await this.#tell({
      baseUrl,
      key,
      organizationId,
      sessionHeaders: sessionHeaders(quiet),
      intervalFactor: this.#intervalFactor,
    });
  }

  async stop(): Promise<TimedReport> {
    return (await this.#tell('stop')) as TimedReport;
  }

  end(): void {
    this.#child.disconnect();
  }

  #tell(message: TimedOrder | 'stop'): Promise<unknown> {
    const child = this.#child;
    return new Promise((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`The timing process ended with ${code}.`));
      child.once('exit', ended);
      child.once('message', (answer) => {
        child.removeListener('exit', ended);
        resolve(answer);
      });
      child.send(message);
    });
  }
}
