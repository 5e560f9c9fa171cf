import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { postgresUrls } from './postgres-urls.ts';

describe('A PostgreSQL URL', () => {
  it('becomes one URL per host, in order, without parameters that the driver does not know', () => {
    const cases: [string, string[]][] = [
      ['postgres://u:p@h/db', ['postgres://u:p@h/db']],
      ['postgresql://h:5433/db?sslmode=require', ['postgresql://h:5433/db?sslmode=require']],
      ['postgres://u:p@a:1,b:2/db', ['postgres://u:p@a:1/db', 'postgres://u:p@b:2/db']],
      ['postgres://a,b/db?target_session_attrs=read-write', ['postgres://a/db', 'postgres://b/db']],
      [
        'postgres://u:p%2C@[::1]:1,b:2/db?target_session_attrs=primary&sslmode=require&application_name=x',
        ['postgres://u:p%2C@[::1]:1/db?sslmode=require', 'postgres://u:p%2C@b:2/db?sslmode=require'],
      ],
    ];
    for (const [text, urls] of cases) assert.deepEqual(postgresUrls(text), { urls }, text);
  });

  it('is rejected with a sentence that says what to do and does not repeat the URL', () => {
    const cases: [string, RegExp][] = [
      ['postgres://u:secret@a:x,b/db', /cannot be read: write postgres:\/\/USER/],
      ['postgres://u:secret@a:1,b:99999/db', /cannot be read/],
      ['postgres://u:secret@a:1,/db', /cannot be read/],
      ['postgres://,b/db', /cannot be read/],
      ['postgres://u:secret@a,b/db?target_session_attrs=any', /target_session_attrs=read-write/],
      ['postgres://u:secret@a/db?target_session_attrs=standby', /takes writes/],
    ];
    for (const [text, fault] of cases) {
      const read = postgresUrls(text);
      assert.match('fault' in read ? read.fault : '', fault, text);
      assert.doesNotMatch(JSON.stringify(read), /secret/);
    }
  });
});
