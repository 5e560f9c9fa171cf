/** A string that only code that has checked or created it can treat as `Name`. */
type Branded<Name extends string> = string & { readonly __brand: Name };

export type OrganizationId = Branded<'OrganizationId'>;
export type UserId = Branded<'UserId'>;
export type KeyId = Branded<'KeyId'>;
export type ThreadId = Branded<'ThreadId'>;
export type MessageId = Branded<'MessageId'>;
export type ApplicationId = Branded<'ApplicationId'>;
export type DocumentId = Branded<'DocumentId'>;
export type KeyRequestId = Branded<'KeyRequestId'>;
export type PasswordId = Branded<'PasswordId'>;

export type IdGenerator = ReturnType<typeof createIdGenerator>;

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const timeLength = 10;
const randomLength = 16;

/**
 * Ids are a prefix and 128 bits in base 32: 48 bits of time and 80 random bits. They sort in order of creation, even
 * within one millisecond and when the clock steps back: the random part is then incremented instead of drawn again.
 */
export function createIdGenerator(now: () => number, randomBytes: (size: number) => Uint8Array) {
  let lastMs = -1;
  let timePart = '';
  let digits = new Uint8Array(randomLength);

  function next(): string {
    const ms = Math.max(now(), lastMs);
    if (ms > lastMs) {
      lastMs = ms;
      timePart = encoded(ms, alphabet, timeLength);
      // The low five bits of each byte: uniform, since 256 is a multiple of 32.
      digits = randomBytes(randomLength).map((byte) => byte & 31);
    } else {
      countUp(digits);
    }
    let randomPart = '';
    for (const digit of digits) randomPart += alphabet[digit];
    return timePart + randomPart;
  }

  return {
    organization: () => `org_${next()}` as OrganizationId,
    user: () => `usr_${next()}` as UserId,
    key: () => `key_${next()}` as KeyId,
    thread: () => `thr_${next()}` as ThreadId,
    message: () => `msg_${next()}` as MessageId,
    application: () => `app_${next()}` as ApplicationId,
    document: () => `doc_${next()}` as DocumentId,
    password: () => `pwd_${next()}` as PasswordId,
    keyRequest: () => `req_${next()}` as KeyRequestId,
    event: () => `evt_${next()}`,
  };
}

/** Whether a text could be an id of this kind. Any other text is treated as an id that does not exist. */
export const isThreadId = idTest<ThreadId>('thr');
export const isOrganizationId = idTest<OrganizationId>('org');
export const isApplicationId = idTest<ApplicationId>('app');

function idTest<Id extends string>(prefix: string) {
  const pattern = new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`);
  return (text: string): text is Id => pattern.test(text);
}

/** The last `length` digits of a number, in the base that the alphabet has letters for. */
export function encoded(value: number, letters: string, length: number): string {
  let rest = value;
  let text = '';
  while (text.length < length) {
    text = letters[rest % letters.length] + text;
    rest = Math.floor(rest / letters.length);
  }
  return text;
}

function countUp(digits: Uint8Array): void {
  for (let place = digits.length - 1; place >= 0; place -= 1) {
    const digit = digits[place]!;
    if (digit < 31) {
      digits[place] = digit + 1;
      return;
    }
    digits[place] = 0;
  }
}
