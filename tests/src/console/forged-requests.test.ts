import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { assertRefused } from '../../harness/console/assertions.ts';
import { ConsoleClient, type ConsoleResponse, testPassword } from '../../harness/console/console-client.ts';
import { sharedSettingsWorld } from '../../harness/console/settings-world.ts';
import { eventually } from '../../harness/service/eventually.ts';
import type { Service } from '../../harness/service/service.ts';

describe('A request of the console', () => {
  let service: Service;
  let ada: ConsoleClient;
  let ben: ConsoleClient;
  before(async () => {
    const world = await sharedSettingsWorld();
    service = world.service;
    ada = world.ada.client;
    ben = world.ben.client;
  });

  const change = (headers: Record<string, string>): Promise<ConsoleResponse> =>
    ada.call('POST', '/password', {
      body: { current: testPassword, next: testPassword },
      headers,
    });

  it('that changes something needs the CSRF token of its own session', async () => {
    assert.equal((await change({})).status, 200);
    const forged = ['', 'none', ben.csrfToken, ada.csrfToken.slice(1), ada.csrfToken.toUpperCase()];
    for (const proof of forged) assertRefused(await change({ 'x-skein-csrf': proof }), 'FORBIDDEN', proof);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await ada.fetch('/console/sign-out', { method });
      assert.equal(answer.status, method === 'POST' ? 403 : 404, method);
    }
    const { status } = await ada.fetch('/console/sign-out', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `x-skein-csrf=${ada.csrfToken}`,
    });
    assert.equal(status, 403, 'as a form of another site would');
    assert.equal((await ada.get('/session')).status, 200, 'nobody was signed out');
  });

  it('that signs in needs a header that a form on another site cannot send', async () => {
    for (const path of ['/sign-in', '/password-link', '/invitation/read', '/invitation/accept']) {
      const answer = await ben.fetch(`/console${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      });
      assert.equal(answer.status, 403, path);
    }
  });

  it('must come from a page of this service if the browser states its origin', async () => {
    const { host } = new URL(service.baseUrl);
    for (const origin of [service.baseUrl, `https://${host}`])
      assert.equal((await change({ origin, 'sec-fetch-site': 'same-origin' })).status, 200, origin);
    const elsewhere = [
      'https://evil.example',
      'null',
      'http://127.0.0.1:1',
      `http://${host}.evil.example`,
      // Not as a browser spells an origin.
      `http://evil.example@${host}`,
      `http://${host}/`,
      '',
    ];
    for (const origin of elsewhere) assertRefused(await change({ origin }), 'FORBIDDEN', origin);
    for (const site of ['cross-site', 'same-site', 'none'])
      assertRefused(await change({ 'sec-fetch-site': site }), 'FORBIDDEN', site);
  });

  it('is authorized before its body is validated', async () => {
    const nobody = new ConsoleClient(service.baseUrl);
    const organization = ada.session.organizations[0].id;
    const post = (client: ConsoleClient, id: string, headers = {}) =>
      client.call('POST', client.at('/keys', id), { body: { nonsense: true }, headers });
    const elsewhere = (await service.skein('org', 'create', 'Elsewhere')).id;
    assertRefused(await post(nobody, organization, { 'x-skein-csrf': '' }), 'FORBIDDEN', 'no proof');
    assertRefused(await post(nobody, organization), 'UNAUTHORIZED', 'no session');
    for (const id of [elsewhere, 'org_x', '%00', 'org_00000000000000000000000000'])
      assertRefused(await post(ada, id), 'NOT_FOUND', id);
    for (const path of ['/documents', '/threads', '/keys', '/members', '/applications'])
      for (const method of ['GET', 'DELETE'])
        assertRefused(await ada.call(method, ada.at(`${path}/x%00`, organization)), 'NOT_FOUND', path);
    assertRefused(await post(ben, organization), 'FORBIDDEN', 'no admin');
    assertRefused(await post(ada, organization), 'INVALID_PARAMS', 'nonsense');
  });

  it('to an unknown address gets the error envelope, not a page', async () => {
    for (const path of ['/nowhere', '', '/session/', '/organizations/org_1']) {
      const answer = await ada.call('GET', path, { headers: { accept: 'text/html' } });
      assertRefused(answer, 'NOT_FOUND', path);
    }
  });

  it('with an invalid session is rejected', async () => {
    for (const token of ['', 'x', 'A'.repeat(43), 'A'.repeat(4000), '%00', '../..']) {
      const client = new ConsoleClient(service.baseUrl);
      client.cookies.set('skein', token);
      assertRefused(await client.get('/session'), 'UNAUTHORIZED', token);
    }
    const bearer = await new ConsoleClient(service.baseUrl).call('GET', '/session', {
      headers: { authorization: `Bearer ${ada.cookies.get('skein')}` },
    });
    assertRefused(bearer, 'UNAUTHORIZED', 'a cookie is not a credential of the public API');
    const api = await ada.fetch('/api/v1/threads');
    assert.equal(api.status, 401, 'nor is a session');
  });

  it('is logged with its person and organization, and without its cookie and CSRF token', async () => {
    const answer = await ada.get(ada.at('/usage'));
    const traceId = answer.headers.get('x-request-id') as string;
    const line = await eventually(
      () => service.output.find((text) => text.includes(traceId)),
      (text) => text !== undefined,
    );
    const { person, organization, credential, route } = JSON.parse(line as string);
    assert.equal(person, ada.session.user.id);
    assert.equal(organization, ada.session.organizations[0].id);
    assert.equal(credential, undefined);
    assert.equal(route, '/console/organizations/:organizationId/usage');
    const log = service.output.join('\n');
    assert.ok(!log.includes(ada.cookies.get('skein') as string) && !log.includes(ada.csrfToken));
  });
});
