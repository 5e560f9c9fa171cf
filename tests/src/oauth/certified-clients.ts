import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import type { IssuedApplication } from '../../harness/world/applications.ts';

/** How a client authenticates: RFC 6749 §2.3.1. */
export const methods = ['client_secret_basic', 'client_secret_post'] as const;
export type Method = (typeof methods)[number];

interface Granted {
  readonly access_token: string;
  readonly token_type: string;
  readonly expires_in?: number | undefined;
  readonly scope?: string | undefined;
}

/** A client library that knows only the issuer and an application's credentials, and discovers the rest. */
interface CertifiedClient {
  /** The metadata of the issuer, which the library has checked against RFC 8414. */
  discover(issuer: string): Promise<oauth.AuthorizationServer>;
  grant(issuer: string, application: IssuedApplication, method: Method): Promise<Granted>;
  /** The status and body of a GET. */
  read(issuer: string, token: string, url: string): Promise<{ status: number; body: any }>;
}

/** Allows plain HTTP, which the loopback interface uses. */
const plainHttp = { [oauth.allowInsecureRequests]: true };

async function discover(issuer: string): Promise<oauth.AuthorizationServer> {
  const url = new URL(issuer);
  const response = await oauth.discoveryRequest(url, { algorithm: 'oauth2', ...plainHttp });
  return oauth.processDiscoveryResponse(new URL(issuer), response);
}

async function configure(issuer: string, clientId: string, authentication?: openid.ClientAuth) {
  return openid.discovery(new URL(issuer), clientId, undefined, authentication, {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
  });
}

export const certifiedClients: Record<string, CertifiedClient> = {
  oauth4webapi: {
    discover,
    async grant(issuer, { clientId, clientSecret }, method) {
      const server = await discover(issuer);
      const client = { client_id: clientId };
      const authentication =
        method === 'client_secret_basic'
          ? oauth.ClientSecretBasic(clientSecret)
          : oauth.ClientSecretPost(clientSecret);
      const response = await oauth.clientCredentialsGrantRequest(
        server,
        client,
        authentication,
        {},
        plainHttp,
      );
      return oauth.processClientCredentialsResponse(server, client, response);
    },
    async read(_issuer, token, url) {
      const response = await oauth.protectedResourceRequest(
        token,
        'GET',
        new URL(url),
        undefined,
        undefined,
        plainHttp,
      );
      return { status: response.status, body: await response.json() };
    },
  },

  'openid-client': {
    async discover(issuer) {
      return (await configure(issuer, 'anyone')).serverMetadata();
    },
    async grant(issuer, { clientId, clientSecret }, method) {
      const authentication =
        method === 'client_secret_basic'
          ? openid.ClientSecretBasic(clientSecret)
          : openid.ClientSecretPost(clientSecret);
      return openid.clientCredentialsGrant(await configure(issuer, clientId, authentication));
    },
    async read(issuer, token, url) {
      const configuration = await configure(issuer, 'anyone');
      const response = await openid.fetchProtectedResource(configuration, token, new URL(url), 'GET');
      return { status: response.status, body: await response.json() };
    },
  },
};

/** Reads a token like a resource server of RFC 9068, after verifying it with the issuer's published keys. */
export async function readAsResourceServer(
  issuer: string,
  token: string,
  audience: string,
): Promise<oauth.JWTAccessTokenClaims> {
  const request = new Request(audience, { headers: { authorization: `Bearer ${token}` } });
  return oauth.validateJwtAccessToken(await discover(issuer), request, audience, {
    signingAlgorithms: ['ES256'],
    ...plainHttp,
  });
}
