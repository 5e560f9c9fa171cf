import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { terminalLine } from './terminal-log.ts';

const time = '2026-11-16T09:30:05.123Z';
const line = (fields: object) =>
  stripVTControlCharacters(terminalLine(`${JSON.stringify({ time, ...fields })}\n`));
const text = (fields: object) => line(fields).replace(/^\d\d:\d\d:\d\d /, '');

describe('A log line on a terminal', () => {
  it('starts with the time and ends with the other fields', () => {
    assert.match(line({ level: 30, msg: 'ready' }), /^\d\d:30:05 ready\n$/);
    const ready = { level: 30, role: 'all', address: 'http://127.0.0.1:8080', msg: 'ready' };
    assert.equal(text(ready), 'ready role=all address=http://127.0.0.1:8080\n');
  });

  it('shows a request as method, route, status and time, with a trace ID if it failed', () => {
    const request = {
      level: 30,
      trace_id: 't1',
      method: 'GET',
      route: '/api/v1/threads',
      ms: 1.5,
      msg: 'request',
    };
    assert.equal(text({ ...request, status: 200 }), 'GET /api/v1/threads 200 1.5 ms\n');
    assert.equal(text({ ...request, status: 404 }), 'GET /api/v1/threads 404 1.5 ms trace_id=t1\n');
  });

  it('is shown unchanged, but without control characters, if it is not JSON', () => {
    assert.equal(
      terminalLine('{"msg":"\\u000[redacted]\u001b[2J"}\n'),
      '{"msg":"\\u000[redacted]\uFFFD[2J"}\n',
    );
  });

  it('names warnings and errors, and shows the stack of an error', () => {
    assert.equal(text({ level: 40, msg: 'slow' }), 'warning slow\n');
    const err = { type: 'Error', message: 'no', stack: 'Error: no\n    at here' };
    assert.equal(text({ level: 50, err, msg: 'failed' }), 'error failed\n  Error: no\n      at here\n');
  });

  it('contains no control characters from a caller', () => {
    const hostile = '\u001b[2Jgone\u0007\r';
    const fields = { level: 30, msg: hostile, field: hostile, err: { stack: hostile }, [hostile]: 1 };
    const request = { level: 30, msg: 'request', method: hostile, route: hostile, status: 200, ms: 1 };
    for (const each of [fields, request]) {
      const shown = terminalLine(JSON.stringify({ time, ...each }));
      for (const sequence of ['\u001b[2J', '\u0007', '\r'])
        assert.ok(!shown.includes(sequence), JSON.stringify(shown));
      assert.match(shown, /gone/);
    }
  });
});
