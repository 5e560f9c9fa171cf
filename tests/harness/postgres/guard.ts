import { type ChildProcess, spawn, spawnSync } from 'node:child_process';

/**
 * Stops the server of a folder, using the pid that the server wrote there, and removes the folder. A killed server
 * leaves behind its pid, which another process may have by then, and a shared memory segment that only `ipcrm` removes.
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
 * Makes sure that the server and its folder are removed when this process ends. On an orderly exit, this happens before
 * the process ends. After SIGKILL or an unhandled SIGTERM, a shell does it: it waits until a pipe closes that only this
 * process holds.
 */
export function guardFolder(folder: string): { release(): void } {
  const guard = spawn('/bin/sh', ['-c', `cat >/dev/null\n${removal}`, 'sh', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // A separate session, so that signals from the terminal to the tests do not reach it.
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
