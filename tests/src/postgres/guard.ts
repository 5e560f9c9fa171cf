import { type ChildProcess, spawn, spawnSync } from 'node:child_process';

/**
 * Ends the server of a folder, by the pid that the server itself wrote there, and removes the folder. A server that was
 * killed leaves its pid, which may be another's by then, and a segment of shared memory that only `ipcrm` removes.
 */
const removal = `
pidFile=$1/data/postmaster.pid
isServer() { [ ! -d /proc/self ] || grep -qs '^postgres$' "/proc/$1/comm"; }
if pid=$(head -n 1 "$pidFile" 2>/dev/null); then
  segment=$(sed -n '7s/.* //p' "$pidFile")
  isServer "$pid" && kill -QUIT "$pid" 2>/dev/null && for turn in $(seq 100); do
    [ -e "$pidFile" ] && kill -0 "$pid" 2>/dev/null || break
    sleep 0.05
  done
  [ -e "$pidFile" ] && [ -n "$segment" ] && ipcrm -m "$segment" 2>/dev/null
fi
rm -rf "$1"
`;

/**
 * Sees to it that the server and its folder are gone when this process has ended, however it ends. At an orderly end that
 * is done before this process is gone. After SIGKILL, or a SIGTERM that nobody handles, a shell does it: it waits for
 * the end of a pipe that only this process holds.
 */
export function guardFolder(folder: string): { release(): void } {
  const guard = spawn('/bin/sh', ['-c', `cat >/dev/null\n${removal}`, 'sh', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // A session of its own: what the terminal sends to the tests does not reach it.
    detached: true,
    cwd: '/',
  });
  letGo(guard);
  const removeNow = () => removeFolder(folder);
  process.once('exit', removeNow);
  return {
    release() {
      removeNow();
      process.off('exit', removeNow);
      guard.stdin?.end();
    },
  };
}

function removeFolder(folder: string): void {
  spawnSync('/bin/sh', ['-c', removal, 'sh', folder], { stdio: 'ignore', cwd: '/' });
}

/** A child that does not keep this process from ending. */
export function letGo(child: ChildProcess): void {
  child.unref();
  (child.stdin as unknown as { unref?(): void } | null)?.unref?.();
}
