import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

test('a signal that npm repeats at once does not end the process, but a later one does', async () => {
  const script = `
    import { onStopSignal } from ${JSON.stringify(import.meta.resolve('./command.ts'))};
    const interrupt = () => process.kill(process.pid, 'SIGINT');
    let stops = 0;
    onStopSignal(['SIGINT'], () => {
      stops += 1;
      setInterval(interrupt, 10);
      setTimeout(() => console.log(stops), 100);
    });
    interrupt();
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  assert.equal(await text(child.stdout), '1\n');
  assert.deepEqual(await exited, [null, 'SIGINT']);
});
