/** Who a provider says somebody is. */
export interface Identity {
  readonly issuer: string;
  /** The provider's own name for the person, which never changes. */
  readonly subject: string;
  readonly email: string | undefined;
  /** Whether the provider has seen that the address is theirs. */
  readonly emailVerified: boolean;
}

/** What the answer of the provider must fit: known to the browser that began, and to no other. */
export interface SignInChecks {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** Why a provider did not say who somebody is. */
export type ProviderFault = 'provider-unavailable' | 'cancelled' | 'failed';

export class ProviderError extends Error {
  readonly fault: ProviderFault;

  constructor(fault: ProviderFault, reason: string) {
    super(reason);
    this.name = 'ProviderError';
    this.fault = fault;
  }
}

/** Single sign-on. Whatever goes wrong is a `ProviderError`, whose message holds no token. */
export interface IdentityProvider {
  /** What people know it by. */
  readonly name: string;
  /** Where to send the person, who comes back to `returnAddress`. */
  begin(returnAddress: string): Promise<{ address: string; checks: SignInChecks }>;
  /** `callback`: the address that the person came back to, with all that the provider put into it. */
  finish(callback: string, checks: SignInChecks): Promise<Identity>;
}
