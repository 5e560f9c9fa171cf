import type { Claims, SigningKey } from './token-forge.ts';

/**
 * What the forgers have. It includes the service's own key, so that only the forgery itself can be the reason for a
 * rejection.
 */
export interface ForgersKit {
  /** Valid tokens that the service issued to the same application. */
  readonly good: string;
  readonly another: string;
  readonly own: SigningKey;
  readonly foreign: SigningKey;
  /** The claims of a valid token issued now, with these changes. Undefined removes a claim. */
  claims(changes?: Claims): Claims;
  /** No request may be sent there. */
  readonly attackersUrl: string;
  readonly authUrl: string;
  readonly baseUrl: string;
  /** The id of a deleted application, then of another organization's application, then of that organization. */
  readonly deletedClient: string;
  readonly foreignClient: string;
  readonly foreignOrganization: string;
}
