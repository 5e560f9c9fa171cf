import type { UserId } from './id.ts';

export const passwordLengthMin = 10;
/** Long enough for any sentence, and short enough not to slow down hashing. */
export const passwordLengthMax = 256;

/** Why a password cannot be used. NIST SP 800-63B: rules about digits or symbols make passwords worse. */
export function passwordFault(password: string, email: string): string | undefined {
  const length = [...password].length;
  if (length < passwordLengthMin) return `must have at least ${passwordLengthMin} characters`;
  if (length > passwordLengthMax) return `must have at most ${passwordLengthMax} characters`;
  const plain = password.toLowerCase().trim();
  if (plain === email || plain === email.split('@')[0]) return 'must not be your address';
  if (new Set(plain).size < 3 || commonest.has(plain)) {
    return 'is too common: use a few unrelated words';
  }
  return undefined;
}

/** A browser that has signed in with this password before. Failures elsewhere do not lock it out. */
export interface KnownDevice {
  readonly id: string;
  readonly userId: UserId;
  /** SHA-256 of the password's hash: a device does not outlive the password that it proved. */
  readonly password: string;
}

/** The most common passwords of at least that length in lists of leaked passwords. */
const commonest: ReadonlySet<string> = new Set(
  `0123456789 01234567890 0987654321 1029384756 1122334455 12345678910 1234567890 12345678900 1234567891 123456789a
  123456789q 1234567890a 1234567890q 123456abcd 1234qwerasdf 1q2w3e4r5t 1q2w3e4r5t6y 1qaz2wsx3edc 1qazxsw23edc
  9876543210 98765432100 a123456789 abc1234567 abcd123456 abcd1234567 abcdefghij abcdefghijk administrator asdfghjkl1
  asdfghjkl123 asdfghjkl; baseball123 changeme123 charlie123 computer123 correcthorsebatterystaple football123
  godisgreat1 hello12345 iloveyou12 iloveyou123 iloveyou1234 jesuschrist letmein123 letmein1234 liverpool1 manchester
  michael123 mynameis123 p@ssw0rd123 passw0rd123 password01 password10 password11 password12 password123 password123!
  password1234 password12345 password1! password!1 passwordpassword princess12 princess123 q1w2e3r4t5 q1w2e3r4t5y6 qazwsxedc1
  qazwsxedc123 qazwsxedcrfv qwerty1234 qwerty12345 qwerty123456 qwertyuiop qwertyuiop1 qwertyuiop123 qwertyuiop[] secret1234
  sunshine123 superman123 test123456 testtest123 trustno1234 welcome123 welcome1234 zaq12wsxcde3 zxcvbnm123 zxcvbnm1234
  zxcvbnm,./`.split(/\s+/),
);

export interface Identity {
  readonly issuer: string;
  /** The provider's id for the person. It never changes. */
  readonly subject: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
}

/** Values that the provider's answer must match. Only the browser that started the sign-in knows them. */
export interface SignInChecks {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/**
 * `expired`: it was started too long ago, or in another browser. `unverified`: the provider has not verified the address.
 * `unknown-person`: no member has the address, or the member with it uses another account at the provider.
 */
export type SignInProblem =
  | 'provider-unavailable'
  | 'cancelled'
  | 'failed'
  | 'expired'
  | 'unverified'
  | 'unknown-person';

/** Why single sign-on failed. The message is for the log. */
export class SignInError extends Error {
  readonly problem: SignInProblem;

  constructor(problem: SignInProblem, reason: string) {
    super(reason);
    this.name = 'SignInError';
    this.problem = problem;
  }
}

/** Single sign-on. Every failure is a `SignInError`, whose message contains no token. */
export interface IdentityProvider {
  readonly name: string;
  /** Where to send the person, who then returns to `returnUrl`. */
  begin(returnUrl: string): Promise<{ url: string; checks: SignInChecks }>;
  /** `callback` is the URL that the person returned to, with the provider's parameters. */
  finish(callback: string, checks: SignInChecks): Promise<Identity>;
}
