import type { Claims, SigningKey } from './token-forge.ts';

/** What the forgers have: also the service's own key, so that nothing but the forgery itself can be the reason. */
export interface ForgersKit {
  /** Tokens as the service issued them, to the same application. */
  readonly good: string;
  readonly another: string;
  readonly own: SigningKey;
  readonly foreign: SigningKey;
  /** Those of a good token issued now, with these changed; undefined takes a claim away. */
  claims(changes?: Claims): Claims;
  /** No request may ever go there. */
  readonly attackersUrl: string;
  readonly authUrl: string;
  readonly baseUrl: string;
  /** Ids of an application that was deleted, of one of another organization, and of that organization. */
  readonly deletedClient: string;
  readonly foreignClient: string;
  readonly foreignOrganization: string;
}
