import { type ChildProcess, fork } from 'node:child_process';
import { on, once } from 'node:events';
import { setPriority } from 'node:os';
import { orUndefined } from '../../../runtime/src/pure/or-undefined.ts';
import { retryUntilAborted } from '../../../runtime/src/retry.ts';
import type { PassageStore } from '../port/documents.ts';
import { type Model, ModelError, type ReplyRequest } from '../port/model.ts';
import type { FromReply, ReplyTask, ToReply } from './serve-reply.ts';

interface IsolatedModelOptions<Settings> extends Pick<ReplyTask<Settings>, 'settings'> {
  readonly name: string;
  /** Calls `serveReply`. */
  readonly program: URL;
  /** For what the process cannot read itself. */
  readonly store: PassageStore;
  readonly traceHeaders: () => Record<string, string>;
}

/** Prompts, passages and drafts have maximum sizes: a reply takes a tenth of this. */
const heapMb = 512;
/** With what is outside the heap. */
const memoryMb = 2 * heapMb;
/** The replies of others take precedence when processors are busy. */
const niceness = 10;

/**
 * Writes each reply in a process of its own, which the reply may end in any way without ending this one: that fails as
 * transient. The process is killed when the reply ends or is aborted, and ends by itself when this one dies.
 */
export function isolatedModel<Settings>(options: IsolatedModelOptions<Settings>): Model {
  const { name, settings, store, traceHeaders } = options;
  const running = new Set<ChildProcess>();

  async function* reply({ signal, ...request }: ReplyRequest) {
    signal.throwIfAborted();
    const child = startProcess(options.program);
    running.add(child);
    child.once('exit', () => running.delete(child));
    // Sending to a process that has been killed fails after its outcome is known.
    child.on('error', () => running.delete(child));
    const tell = (message: ToReply<Settings>) => child.connected && child.send(message);
    try {
      const messages = on(child, 'message', { signal, close: ['exit'] });
      tell({ settings, request, traceHeaders: traceHeaders() });
      for await (const [message] of messages as AsyncIterable<[FromReply]>) {
        if ('event' in message) yield message.event;
        else if ('read' in message) {
          const { method, args } = message.read;
          const read = store[method] as (...args: readonly unknown[]) => Promise<unknown>;
          // Only an aborted reply is left without an answer.
          retryUntilAborted(() => read(...args), signal).then(
            (answer) => tell({ id: message.id, answer }),
            () => {},
          );
        } else if ('failure' in message) throw new ModelError(message.failure, message.kind);
        else if ('error' in message) throw new Error(message.error);
        else return;
      }
    } catch (error) {
      const isStartFailure = (error as NodeJS.ErrnoException).syscall?.startsWith('spawn');
      if (!isStartFailure) throw error;
      throw new ModelError(`No process could be started: ${(error as Error).message}.`, { transient: true });
    } finally {
      child.kill('SIGKILL');
    }
    throw new ModelError(`The process that wrote the reply ended unexpectedly (${describeExit(child)}).`, {
      transient: true,
    });
  }

  return {
    name,
    reply,
    // They read the store, which is closed next.
    async close() {
      await Promise.all(
        [...running].map((child) => {
          const exited = once(child, 'exit');
          child.kill('SIGKILL');
          return exited;
        }),
      );
    },
  };
}

function startProcess(program: URL): ChildProcess {
  const child = fork(program, [String(process.pid), String(memoryMb)], {
    execArgv: [`--max-old-space-size=${heapMb}`],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // Node.js cannot start in a folder that was removed, for example by a deployment.
    cwd: '/',
    // In a process group of its own: Ctrl-C stops the service, which then releases the reply.
    detached: true,
    env: environment(),
  });
  // If the process has already exited, its messages end.
  orUndefined(() => child.pid !== undefined && setPriority(child.pid, niceness));
  return child;
}

/** Without the secrets of the service: what the model needs is in its settings. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SKEIN_')));
}

function describeExit({ exitCode, signalCode }: ChildProcess): string {
  if (signalCode === 'SIGUSR2') return `it took more than ${memoryMb} MB of memory`;
  return signalCode ?? `exit code ${exitCode}`;
}
