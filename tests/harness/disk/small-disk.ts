import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { canMount } from '../service/machine.ts';
import { temporaryFolder } from '../service/service.ts';

/** Why tests on a mount are skipped; false if they run. */
export const skipWithoutMounts = canMount() ? false : 'this process may not mount a tmpfs: run it as root';

/** A mounted disk of `kibibytes` that is unmounted when the test process ends. */
export class SmallDisk {
  readonly folder = temporaryFolder();

  constructor(kibibytes: number) {
    this.#mount(`size=${kibibytes}k`);
    // Unmount before the folder is removed.
    process.prependOnceListener('exit', () => spawnSync('umount', ['--lazy', this.folder]));
  }

  /** Fills the remaining space. */
  fill(): void {
    const file = openSync(join(this.folder, 'ballast'), 'a');
    try {
      // Write smaller and smaller pieces, until not even a byte fits.
      for (let size = 65_536; size >= 1; ) {
        try {
          writeSync(file, Buffer.alloc(size));
        } catch (error) {
          assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
          size = Math.floor(size / 2);
        }
      }
    } finally {
      closeSync(file);
    }
  }

  makeRoom(): void {
    rmSync(join(this.folder, 'ballast'));
  }

  /** Works only while no file on it is open for writing. */
  makeReadOnly(): void {
    this.#mount('remount,ro');
  }

  #mount(options: string): void {
    const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', this.folder]);
    assert.equal(status, 0, String(stderr));
  }
}
