import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';

/** Starts a build while only two file descriptors are left, which are too few to start a process. */
const program = `
import { closeSync, openSync } from 'node:fs';
import { buildBeside } from ${JSON.stringify(join(import.meta.dirname, 'web-build.ts'))};
const warnings = [];
const log = { info() {}, warn: (_details, message) => warnings.push(message) };
const opened = [];
try {
  for (;;) opened.push(openSync('/dev/null'));
} catch {
  for (const descriptor of opened.slice(0, 2)) closeSync(descriptor);
}
await buildBeside(log, process.argv[1], 'the console').ended;
for (const descriptor of opened.slice(2)) closeSync(descriptor);
process.stdout.write(warnings.join());
`;

it('A build that cannot be started does not stop the service, and leaves no lock', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-build-'));
  try {
    writeFileSync(join(folder, 'build.ts'), '');
    const command = 'ulimit -n 64; exec "$0" --input-type=module --eval "$1" "$2"';
    const printed = execFileSync('sh', ['-c', command, process.execPath, program, folder], {
      encoding: 'utf8',
    });
    assert.equal(printed, 'the console could not be built: npm ci, then npm run build');
    assert.equal(existsSync(join(folder, 'dist.building')), false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
