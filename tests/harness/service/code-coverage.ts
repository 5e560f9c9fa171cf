import { once } from 'node:events';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root, type Service } from './service.ts';

interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
}

/** Which files' code runs in a service that was started with `NODE_OPTIONS=--inspect=127.0.0.1:0`. */
export class CodeCoverage {
  readonly #inspector: WebSocket;
  readonly #replies = new Map<number, (result: { result: ScriptCoverage[] }) => void>();

  private constructor(inspector: WebSocket) {
    this.#inspector = inspector;
    inspector.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(data);
      this.#replies.get(id)?.(result);
    });
  }

  static async start({ output }: Service): Promise<CodeCoverage> {
    const address = output.map((line) => /\bws:\/\/\S+/.exec(line)?.[0]).find(Boolean);
    if (address === undefined) throw new Error('the service has no inspector');
    const inspector = new WebSocket(address);
    await once(inspector, 'open');
    const coverage = new CodeCoverage(inspector);
    await coverage.#call('Profiler.enable');
    await coverage.#call('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    return coverage;
  }

  /** The files, as paths from the root of the repository, of which a function is called until `act` is done. */
  async during(act: () => Promise<unknown>): Promise<Set<string>> {
    // Counts start from zero after each look.
    await this.#call('Profiler.takePreciseCoverage');
    await act();
    const { result } = await this.#call('Profiler.takePreciseCoverage');
    const ran = result.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0));
    const files = ran.filter(({ url }) => url.startsWith('file:')).map(({ url }) => fileURLToPath(url));
    return new Set(
      files.map((file) => relative(root, file)).filter((file) => !/^\.\.|node_modules/.test(file)),
    );
  }

  end(): void {
    this.#inspector.close();
  }

  #call(method: string, params: object = {}): Promise<{ result: ScriptCoverage[] }> {
    const id = this.#replies.size + 1;
    this.#inspector.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => this.#replies.set(id, resolve));
  }
}
