import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from './service.ts';

/** A request as the provider saw it. */
export interface ProviderRequest {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: any;
  /** Whether the connection was closed before the answer had ended. */
  readonly closedEarly: boolean;
}

/** A provider of language models, in a process of its own. What it does is decided by the prompt: `!status 500`. */
export interface ModelServer {
  /** For `SKEIN_MODEL_BASE_URL`. */
  readonly url: string;
  requests(): Promise<ProviderRequest[]>;
  close(): Promise<void>;
}

/** `port`: where one listened before, to come back. */
export async function startModelServer(port = 0): Promise<ModelServer> {
  const program = join(root, 'server/testing/provider-stand-in.ts');
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
