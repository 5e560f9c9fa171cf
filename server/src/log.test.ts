import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';

/** What a process writes when it runs these log statements. */
function logged(statements: string): string[] {
  const script = `
    import { createLog } from './server/src/log.ts';
    const log = createLog('info');
    ${statements}
    log.flush();`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: `${import.meta.dirname}/../..`,
    encoding: 'utf8',
  });
  return output.trim().split('\n');
}

describe('A log line', () => {
  it('never contains an API key, a prompt or a header, wherever they occur', () => {
    const lines = logged(`
      log.info({ prompt: 'SECRET', authorization: 'SECRET', headers: { x: 'SECRET' }, body: 'SECRET', content: 'SECRET' }, 'eak_0123456789abcdef');
      log.error({ err: new Error('failed for eak_0123456789abcdef'), url: '/x/eak_0123456789abcdef' }, 'kept');`);
    assert.equal(lines.length, 2);
    assert.ok(!lines.join().includes('SECRET'), lines.join());
    assert.ok(!lines.join().includes('0123456789'), lines.join());
    assert.equal(JSON.parse(lines[1] as string).msg, 'kept');
  });

  it('stays valid JSON if an escaped control character is next to text that looks like a token', () => {
    const token = 'yJabcdefgh.ijkl.mnop';
    const [escaped, real] = logged(`
      log.info(${JSON.stringify(`\u000e${token}`)});
      log.info(${JSON.stringify(`\\u000e${token}`)});`);
    assert.equal(JSON.parse(escaped!).msg, `\u000e${token}`);
    assert.equal(JSON.parse(real!).msg, '\\u000[redacted]');
  });

  it('never contains a client secret or an access token, and shows that one was removed', () => {
    const header = Buffer.from('{"alg":"ES256","typ":"at+jwt","kid":"k"}').toString('base64url');
    const payload = Buffer.from('{"sub":"app_1","epoch":1}').toString('base64url');
    const signature = '-0_SIGNATURE_0-';
    const credentials = ['eas_SECRET0123456789', 'eak_SECRET0123456789', `${header}.${payload}.${signature}`];
    for (const credential of credentials) {
      const lines = logged(`
        const credential = ${JSON.stringify(credential)};
        log.info({ nested: { list: [credential] } }, 'before ' + credential + ' after');
        log.info('a line\\n' + credential + '\\ttab\\t' + credential + '"' + credential);
        log.info('client_secret%3D' + credential + '&x=' + credential + ',_' + credential);
        log.error({ err: new Error(credential) }, 'kept');`);
      assert.equal(lines.length, 4);
      for (const line of lines) {
        assert.ok(!/SECRET|SIGNATURE/.test(line), line);
        assert.ok(!line.includes(payload), line);
        assert.ok(line.includes('[redacted]'), line);
        JSON.parse(line);
      }
      assert.match(JSON.parse(lines[0] as string).msg, /^before \w*\[redacted\] after$/);
    }
  });
});
