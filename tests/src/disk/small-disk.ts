import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { canMount } from '../machine.ts';
import { temporaryFolder } from '../service.ts';

/** Why tests on a mount are skipped here; false where they run. */
export const skipWithoutMounts = canMount() ? false : 'this process may not mount a tmpfs: run it as root';

/** A disk of its own that holds `kibibytes`, mounted until the process of the tests ends. */
export class SmallDisk {
  readonly folder = temporaryFolder();

  constructor(kibibytes: number) {
    this.#mount(`size=${kibibytes}k`);
    // Before the folder is removed.
    process.prependOnceListener('exit', () => spawnSync('umount', ['--lazy', this.folder]));
  }

  /** Takes all the room that is left. */
  fill(): void {
    const file = openSync(join(this.folder, 'ballast'), 'a');
    try {
      // Smaller and smaller, until not even a byte fits.
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

  /** Only while no file on it is open for writing. */
  makeReadOnly(): void {
    this.#mount('remount,ro');
  }

  #mount(options: string): void {
    const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', this.folder]);
    assert.equal(status, 0, String(stderr));
  }
}
