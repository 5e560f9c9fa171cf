import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';

describe('A log line', () => {
  it('never carries an API key, a prompt or a header, wherever they stand', () => {
    const script = `
      import { createLog } from './server/src/log.ts';
      const log = createLog('info');
      log.info({ prompt: 'SECRET', authorization: 'SECRET', headers: { x: 'SECRET' }, body: 'SECRET', content: 'SECRET' }, 'eak_0123456789abcdef');
      log.error({ err: new Error('failed for eak_0123456789abcdef'), url: '/x/eak_0123456789abcdef' }, 'kept');
      log.flush();`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: `${import.meta.dirname}/../..`,
      encoding: 'utf8',
    });
    const lines = output.trim().split('\n');
    assert.equal(lines.length, 2);
    assert.ok(!output.includes('SECRET'), output);
    assert.ok(!output.includes('0123456789'), output);
    assert.equal(JSON.parse(lines[1] as string).msg, 'kept');
  });
});
