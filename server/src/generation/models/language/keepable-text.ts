const redaction = '[redacted]';

/** Shorter keys are placeholders for local servers, such as "ollama" or "EMPTY". */
const secretLengthMin = 8;

/**
 * Makes a stream of text safe to store and show: removes NULs, replaces lone surrogates, and redacts the secret even if
 * it is split across pieces. A possible start of either is held back until the next piece.
 */
export class KeepableText {
  readonly #secret: string;
  #held = '';

  constructor(secret: string | undefined) {
    this.#secret = secret !== undefined && secret.length >= secretLengthMin ? secret : '';
  }

  add(piece: string): string {
    return this.#release(this.#held + piece.replaceAll('\0', ''));
  }

  /** The text still held back. */
  end(): string {
    const rest = this.#held.toWellFormed();
    this.#held = '';
    return rest;
  }

  #release(text: string): string {
    const clear = this.#secret === '' ? text : text.replaceAll(this.#secret, redaction);
    const keep = Math.max(secretBegunAtEnd(clear, this.#secret), endsInHighSurrogate(clear) ? 1 : 0);
    this.#held = clear.slice(clear.length - keep);
    return clear.slice(0, clear.length - keep).toWellFormed();
  }
}

/** Makes a complete text safe to store and show. */
export function keepable(text: string, secret: string | undefined): string {
  const stream = new KeepableText(secret);
  return stream.add(text) + stream.end();
}

/** How many characters at the end of the text could be the start of the secret. */
function secretBegunAtEnd(text: string, secret: string): number {
  if (secret === '') return 0;
  const end = text.slice(Math.max(0, text.length - secret.length + 1));
  for (let at = end.indexOf(secret[0]!); at !== -1; at = end.indexOf(secret[0]!, at + 1)) {
    if (secret.startsWith(end.slice(at))) return end.length - at;
  }
  return 0;
}

function endsInHighSurrogate(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
