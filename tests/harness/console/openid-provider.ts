import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
// The package has no type declarations.
// @ts-expect-error
import { Provider } from 'oidc-provider';

export interface Account {
  readonly subject: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
}

export const clientId = 'skein';
export const clientSecret = 'a secret of the tests alone';

/** A real OpenID provider on this machine. It signs everyone in as `account`, without a login page. */
export class OpenIdProvider {
  readonly issuer: string;
  account: Account | 'refuses' = 'refuses';
  readonly #server: Server;
  readonly #accounts = new Map<string, Account>();

  private constructor(server: Server) {
    this.#server = server;
    this.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<OpenIdProvider> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new OpenIdProvider(server);
  }

  /** The environment of a service that uses this provider. */
  get environment(): Record<string, string> {
    return {
      SKEIN_OIDC_ISSUER: this.issuer,
      SKEIN_OIDC_CLIENT_ID: clientId,
      SKEIN_OIDC_CLIENT_SECRET: clientSecret,
      SKEIN_OIDC_NAME: 'Acme Login',
    };
  }

  /** Registers the service and starts to answer. */
  trust(redirectUri: string): void {
    const provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uris: [redirectUri],
          token_endpoint_auth_method: 'client_secret_basic',
        },
      ],
      claims: { openid: ['sub'], email: ['email', 'email_verified'] },
      pkce: { required: () => true },
      cookies: { keys: ['of the tests alone'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      findAccount: (_: unknown, id: string) => this.#describe(id),
      loadExistingGrant: async (context: any) => {
        const { client, session, provider: own } = context.oidc;
        const grant = new own.Grant({ clientId: client.clientId, accountId: session.accountId });
        grant.addOIDCScope('openid email');
        await grant.save();
        return grant;
      },
    });
    const callback = provider.callback();
    this.#server.removeAllListeners('request').on('request', (request, response) => {
      if (request.url?.startsWith('/interaction/')) void this.#interact(provider, request, response);
      else callback(request, response);
    });
  }

  /** Starts again on the same address. */
  async again(): Promise<void> {
    const { port } = new URL(this.issuer);
    await new Promise<void>((resolve) => this.#server.listen(Number(port), '127.0.0.1', resolve));
  }

  async end(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #describe(subject: string) {
    const account = this.#accounts.get(subject);
    return {
      accountId: subject,
      claims: async () => ({
        sub: subject,
        ...(account?.email !== undefined && { email: account.email, email_verified: account.emailVerified }),
      }),
    };
  }

  async #interact(provider: any, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { account } = this;
    if (account === 'refuses') {
      await provider.interactionFinished(request, response, { error: 'access_denied' });
      return;
    }
    this.#accounts.set(account.subject, account);
    await provider.interactionFinished(request, response, { login: { accountId: account.subject } });
  }
}
