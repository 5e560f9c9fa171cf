import { execFile } from 'node:child_process';
import { waitMsMax } from './eventually.ts';
import { type CommandOutcome, cleanEnvironment, launcher } from './service.ts';

/** Runs a `skein serve` that must exit. If it starts or hangs, it is killed and the promise rejects. */
export function serveAndFail(folder: string, environment: Record<string, string>): Promise<CommandOutcome> {
  const settings = { cwd: folder, env: cleanEnvironment({ SKEIN_PORT: '0', ...environment }) };
  return new Promise((resolve, reject) => {
    execFile(
      launcher,
      ['serve'],
      { ...settings, timeout: waitMsMax, killSignal: 'SIGKILL' },
      (error, stdout, stderr) => {
        const exitCode = error === null ? 0 : error.code;
        if (typeof exitCode === 'number') resolve({ exitCode, stdout, stderr });
        else reject(new Error(`skein serve did not end within ${waitMsMax} ms: ${stdout}${stderr}`));
      },
    );
  });
}
