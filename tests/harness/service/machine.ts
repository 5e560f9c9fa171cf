import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { freemem } from 'node:os';
import { delimiter, join } from 'node:path';
import { root, temporaryFolder } from './service.ts';

/**
 * The path of an installed program; undefined if it is not installed. Debian keeps some programs out of an ordinary
 * user's path.
 */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin'];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

let mounts: boolean | undefined;

/** Whether this process can mount a tmpfs, which needs root and a container that allows it. */
export function canMount(): boolean {
  if (mounts === undefined) {
    const folder = temporaryFolder();
    mounts = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]).status === 0;
    if (mounts) spawnSync('umount', [folder]);
  }
  return mounts;
}

/** Several times the space that the stores of all tests need. */
const memoryBytesMin = 4 * 1024 ** 3;

/**
 * Keeps the temporary files of all child processes in memory, and lets test files share a cache of compiled code, as the
 * launcher does for the service. What the environment sets already wins.
 */
export function prepareEnvironment(): void {
  const memory = memoryFolder();
  if (memory !== undefined) process.env.TMPDIR ??= memory;
  process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/skein');
}

/**
 * A folder in memory for temporary files; undefined if the machine has none with enough room, or runs no programs from
 * it. Syncs take no time there, while on a slow disk they take most of the time of a test.
 */
function memoryFolder(): string | undefined {
  const folder = '/dev/shm';
  let probe: string | undefined;
  try {
    const { bavail, bsize } = statfsSync(folder);
    if (bavail * bsize < memoryBytesMin || freemem() < memoryBytesMin) return undefined;
    probe = mkdtempSync(join(folder, 'skein-test-'));
    const program = join(probe, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    return spawnSync(program).status === 0 ? folder : undefined;
  } catch {
    return undefined;
  } finally {
    if (probe !== undefined) rmSync(probe, { recursive: true });
  }
}

/** A TCP port of 127.0.0.1 that nothing listens on at the moment. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
