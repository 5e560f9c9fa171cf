import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from './service.ts';

/** A request that the provider received. */
interface ProviderRequest {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: any;
  /** Whether the connection was closed before the response had ended. */
  readonly closedEarly: boolean;
}

/** A stand-in for a model provider, in a separate process. The prompt decides what it does: `!status 500`. */
export interface ModelServer {
  /** For `SKEIN_MODEL_BASE_URL`. */
  readonly url: string;
  requests(): Promise<ProviderRequest[]>;
  close(): Promise<void>;
}

/** `port`: the port of an earlier server, to start again on the same address. */
export async function startModelServer(port = 0): Promise<ModelServer> {
  const program = join(root, 'answers/testing/provider-stand-in.ts');
  const child = spawn(process.execPath, [program, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
  // A test that fails halfway leaves nothing running.
  const killAtExit = () => child.kill('SIGKILL');
  process.once('exit', killAtExit);
  const exited = once(child, 'exit').then(() => process.removeListener('exit', killAtExit));
  const firstLine = once(createInterface({ input: child.stdout }), 'line');
  const [url] = await Promise.race([
    firstLine,
    exited.then(() => {
      throw new Error('The provider ended before it listened.');
    }),
  ]);
  return {
    url,
    requests: async () => (await fetch(new URL('/requests', url))).json() as Promise<ProviderRequest[]>,
    async close() {
      child.kill();
      await exited;
    },
  };
}
