/** A person's identity as reported by a provider. */
export interface Identity {
  readonly issuer: string;
  /** The provider's id for the person. It never changes. */
  readonly subject: string;
  readonly email: string | undefined;
  /** Whether the provider has verified that the address belongs to the person. */
  readonly emailVerified: boolean;
}

/** Values that the provider's answer must match. Only the browser that started the sign-in knows them. */
export interface SignInChecks {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** Why a provider did not identify the person. */
export type ProviderFault = 'provider-unavailable' | 'cancelled' | 'failed';

export class ProviderError extends Error {
  readonly fault: ProviderFault;

  constructor(fault: ProviderFault, reason: string) {
    super(reason);
    this.name = 'ProviderError';
    this.fault = fault;
  }
}

/** Single sign-on. Every failure is a `ProviderError`, whose message contains no token. */
export interface IdentityProvider {
  /** The name that people see. */
  readonly name: string;
  /** Where to send the person, who then returns to `returnAddress`. */
  begin(returnAddress: string): Promise<{ address: string; checks: SignInChecks }>;
  /** `callback` is the address that the person returned to, with the provider's parameters. */
  finish(callback: string, checks: SignInChecks): Promise<Identity>;
}
