const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const timeLength = 10;
const randomLength = 16;

/** An id in the service's format, 128 bits in base 32, with a number as its random part. Ids sort in order of creation. */
export function numberedId(prefix: string, ms: number, number: number): string {
  return `${prefix}_${base32(ms, timeLength)}${base32(number, randomLength)}`;
}

function base32(value: number, length: number): string {
  let rest = value;
  let text = '';
  for (let place = 0; place < length; place += 1) {
    text = alphabet[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
