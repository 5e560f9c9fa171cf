import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tlsRisk, withExplicitTlsMode } from './tls.ts';

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
    const modeOf = (query: string) =>
      withExplicitTlsMode(new URL(at('db.internal', query))).searchParams.get('sslmode');
    for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full'])
      assert.equal(modeOf(`?sslmode=${mode}`), 'verify-full');
    for (const mode of ['disable', 'no-verify']) assert.equal(modeOf(`?sslmode=${mode}`), mode);
    assert.equal(modeOf('?sslmode=require&uselibpqcompat=true'), 'require');
    assert.equal(modeOf(''), null);
  });
});
