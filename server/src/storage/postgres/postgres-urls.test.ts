import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { postgresUrls, tlsRisk, withExplicitTlsMode } from './postgres-urls.ts';

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

  it('names the same files from every folder', () => {
    const read = postgresUrls('postgres://h/db?sslrootcert=ca.pem&sslcert=/etc/own.pem&sslkey=keys/own.pem');
    const { searchParams } = new URL('urls' in read ? read.urls[0]! : '');
    assert.deepEqual(
      ['sslrootcert', 'sslcert', 'sslkey'].map((name) => searchParams.get(name)),
      [join(process.cwd(), 'ca.pem'), '/etc/own.pem', join(process.cwd(), 'keys/own.pem')],
    );
  });

  it('is rejected with a sentence that says what to do and does not repeat the URL', () => {
    const cases: [string, RegExp][] = [
      ['postgres://u:secret@a:x,b/db', /cannot be read: write postgres:\/\/USER/],
      ['postgres://u:secret@a:1,b:99999/db', /cannot be read/],
      ['postgres://u:secret@a:1,/db', /cannot be read/],
      ['postgres://,b/db', /cannot be read/],
      ['postgres://u:secret@a,b/db?target_session_attrs=any', /target_session_attrs=read-write/],
      ['postgres://u:secret@a/db?target_session_attrs=standby', /accepts writes/],
    ];
    for (const [text, fault] of cases) {
      const read = postgresUrls(text);
      assert.match('fault' in read ? read.fault : '', fault, text);
      assert.doesNotMatch(JSON.stringify(read), /secret/);
    }
  });
});

const at = (host: string, query = '') => `postgres://skein:secret@${host}/skein${query}`;

describe('A connection to PostgreSQL', () => {
  it('is reported as not encrypted when the address asks for no TLS', () => {
    for (const query of ['', '?sslmode=disable', '?ssl=0', '?application_name=x'])
      assert.match(tlsRisk(at('db.internal', query)) ?? '', /not encrypted/, query);
    assert.match(tlsRisk(at('localhost:5432,db.internal:5433')) ?? '', /not encrypted/);
  });

  it('is reported as not checked when any certificate would be accepted', () => {
    for (const query of ['?sslmode=no-verify', '?ssl=no-verify', '?sslmode=require&uselibpqcompat=true'])
      assert.match(tlsRisk(at('10.0.0.7', query)) ?? '', /not checked/, query);
  });

  it('carries no risk when the certificate is checked, or on this machine', () => {
    for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full'])
      assert.equal(tlsRisk(at('db.internal', `?sslmode=${mode}`)), undefined, mode);
    for (const host of ['localhost', '127.0.0.1:5432', '[::1]', '%2Fvar%2Frun%2Fpostgresql'])
      assert.equal(tlsRisk(at(host)), undefined, host);
    for (const url of ['postgres:///skein', 'postgres:///skein?host=/var/run/postgresql'])
      assert.equal(tlsRisk(url), undefined, url);
  });

  it('keeps its mode even if a later driver interprets it differently', () => {
    const readMode = (query: string) =>
      withExplicitTlsMode(new URL(at('db.internal', query))).searchParams.get('sslmode');
    for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full'])
      assert.equal(readMode(`?sslmode=${mode}`), 'verify-full');
    for (const mode of ['disable', 'no-verify']) assert.equal(readMode(`?sslmode=${mode}`), mode);
    assert.equal(readMode('?sslmode=require&uselibpqcompat=true'), 'require');
    assert.equal(readMode(''), null);
  });
});
