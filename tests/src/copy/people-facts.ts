import assert from 'node:assert/strict';
import { ConsoleClient, parseToken, testPassword } from '../../harness/console/console-client.ts';
import { OpenIdProvider } from '../../harness/console/openid-provider.ts';
import { goThrough } from '../../harness/console/provider-way.ts';
import { Service } from '../../harness/service/service.ts';
import type { Made } from '../../harness/world/world.ts';

/** The credentials that people hold while the service moves. */
export interface PeopleHeld {
  readonly passwordCookies: ReadonlyMap<string, string>;
  readonly providerCookies: ReadonlyMap<string, string>;
  /** From an unused link. */
  readonly invitationToken: string;
  /** The URL of a thread with a reply that Eve has rated. */
  readonly ratedThread: string;
}

const ada = 'ada@acme.example';

/** Ada signs in by a password, Eve through a provider; Ben has not used his link yet. */
export async function signPeopleIn(folder: string, made: Made): Promise<PeopleHeld> {
  const provider = await OpenIdProvider.start();
  const service = await Service.start({ folder, environment: provider.environment });
  try {
    provider.trust(`${service.baseUrl}/console/sso/callback`);
    provider.account = { subject: 'eve-1', email: 'eve@globex.example', emailVerified: true };
    const [byPassword, viaProvider] = [
      new ConsoleClient(service.baseUrl),
      new ConsoleClient(service.baseUrl),
    ];
    const { invitation } = await service.skein('member', 'invite', made.acme, ada);
    assert.equal((await byPassword.acceptInvitation(invitation, testPassword)).status, 200);
    assert.equal(await goThrough(provider, viaProvider), '/');
    const [invited] = (await viaProvider.get('/session')).body.invitations;
    assert.equal((await viaProvider.post(`/invitations/${invited.id}/accept`)).status, 200);
    const at = (path: string) => viaProvider.at(path, invited.id);
    assert.equal((await viaProvider.post(at('/key-requests'), { name: 'Laptop' })).status, 201);
    const asked = await viaProvider.post(at('/threads'), { prompt: 'Asked in the console' });
    assert.equal(asked.status, 201);
    const ratedThread = at(`/threads/${asked.body.thread.id}`);
    assert.equal((await viaProvider.post(`${ratedThread}/stop`)).status, 200);
    const body = { messageId: asked.body.messages[1].id, value: 'down', comment: 'Not what I asked. 🧶' };
    assert.equal((await viaProvider.call('PUT', `${ratedThread}/rating`, { body })).status, 200);
    const { invitation: unused } = await service.skein('member', 'invite', made.acme, 'ben@acme.example');
    return {
      passwordCookies: byPassword.cookies,
      providerCookies: viaProvider.cookies,
      invitationToken: parseToken(unused),
      ratedThread,
    };
  } finally {
    await service.end();
    await provider.end();
  }
}

/** What people can see of a store and do with their credentials. */
export async function peopleFacts({ baseUrl }: Service, held: PeopleHeld): Promise<unknown> {
  const read = async (cookies: ReadonlyMap<string, string>, path: string) => {
    const client = new ConsoleClient(baseUrl);
    for (const [name, value] of cookies) client.cookies.set(name, value);
    const { status, body } = await client.get(path);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const rated = await read(held.providerCookies, `${held.ratedThread}/ratings`);
  assert.equal(rated.ratings.length, 1);
  const stranger = new ConsoleClient(baseUrl);
  const entered = await stranger.signIn(ada, testPassword);
  assert.equal(entered.status, 200, JSON.stringify(entered.body));
  const invited = await stranger.post('/invitation/read', { token: held.invitationToken });
  assert.equal(invited.status, 200, JSON.stringify(invited.body));
  return {
    byPassword: await read(held.passwordCookies, '/session'),
    viaProvider: await read(held.providerCookies, '/session'),
    rated,
    invited: invited.body,
  };
}
