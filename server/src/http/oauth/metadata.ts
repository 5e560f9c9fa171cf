import { accessTokenScope } from '../../domain/access-token.ts';

export const metadataPath = '/.well-known/oauth-authorization-server';

/** The authorization server metadata (RFC 8414 §2). */
export function authorizationServerMetadata(issuer: string): object {
  return {
    issuer,
    token_endpoint: `${issuer}/oauth2/token`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    // There is no authorization endpoint, so no response type. The field is required.
    response_types_supported: [],
    scopes_supported: [accessTokenScope],
  };
}
