const invitationPrefix = 'inv_';
const invitationBytes = 24;
const sessionBytes = 32;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** 192 bits: it cannot be guessed, and a fast hash is enough to protect it. */
export function generateInvitationToken(randomBytes: (size: number) => Uint8Array): string {
  return invitationPrefix + base64url(randomBytes(invitationBytes));
}

/** Whether the text has the form of an invitation token. */
export function isInvitationToken(text: string): boolean {
  return /^inv_[\w-]{32}$/.test(text);
}

/** The token is in the fragment, which browsers do not send: it never appears in a log. */
export function invitationLink(baseUrl: string, token: string): string {
  return `${baseUrl}/invitation#${token}`;
}

/** 256 bits. */
export function generateSessionToken(randomBytes: (size: number) => Uint8Array): string {
  return base64url(randomBytes(sessionBytes));
}

/** Without padding (RFC 4648 §5). The domain has no Buffer. */
function base64url(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text += alphabet[(value >> bits) & 63];
    }
    value &= (1 << bits) - 1;
  }
  if (bits > 0) text += alphabet[(value << (6 - bits)) & 63];
  return text;
}
