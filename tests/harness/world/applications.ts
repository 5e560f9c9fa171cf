import assert from 'node:assert/strict';
import type { Service } from '../service/service.ts';

/** A machine-to-machine application as the `skein` command shows it once, with its secret. */
export interface IssuedApplication {
  readonly clientId: string;
  readonly clientSecret: string;
}

interface TokenResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: any;
}

export async function makeApplication(
  service: Pick<Service, 'skein'>,
  organization: string,
  name = 'Dashboards',
): Promise<IssuedApplication> {
  const { clientId, clientSecret } = await service.skein('app', 'create', organization, '--name', name);
  return { clientId, clientSecret };
}

/** Sends the request of §5.4 to the process at this URL. */
export async function requestToken(
  authUrl: string,
  { clientId, clientSecret }: IssuedApplication,
): Promise<TokenResponse> {
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  const response = await fetch(`${authUrl}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** Exchanges the application's credentials for an access token. */
export async function exchange(authUrl: string, application: IssuedApplication): Promise<string> {
  const { status, body } = await requestToken(authUrl, application);
  assert.equal(status, 200, JSON.stringify(body));
  return body.access_token;
}
