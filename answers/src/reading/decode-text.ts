import { UnreadableDocument } from './unreadable-document.ts';

/** Decodes a file in its encoding, which a byte order mark overrides. Line breaks become `\n`. */
export function decodeText(bytes: Uint8Array, encoding = 'utf-8'): string {
  // Backspaces are the bold print of terminals: `N`, backspace, `N`.
  return cleanText(
    decode(bytes, markedEncoding(bytes) ?? encoding)
      .replace(/[^\n][\b]/g, '')
      .replace(/\r\n?|\u0085|\u2028/g, '\n')
      .replace(/[\f\u2029]/g, '\n\n'),
  );
}

/** `<meta charset>`, `<meta http-equiv="Content-Type">` or the XML declaration. No other attribute counts. */
const declaration =
  /<(?:meta\s+charset\s*=\s*["']?|meta\b(?=[^>]*\shttp-equiv\s*=\s*["']?content-type)[^>]*\bcharset\s*=\s*|\?xml\b[^>]*\sencoding\s*=\s*["'])\s*([\w:-]+)/i;

/** The encoding that a page declares in its first bytes, such as ISO-8859-1. Browsers look no further either. */
export function declaredEncoding(page: Uint8Array): string | undefined {
  const label = declaration.exec(new TextDecoder('latin1').decode(page.subarray(0, 1024)))?.[1];
  // A page whose declaration can be read byte by byte is not UTF-16.
  return label !== undefined && /^utf-?16/i.test(label) ? undefined : label;
}

/**
 * Removes control characters, soft hyphens and zero-width spaces, and replaces ligatures and combining accents by
 * letters. Works letter by letter: `normalize` takes minutes for 600,000 accents in a row.
 */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\P{Cc}\n\t]|[\u00ad\u200b\ufeff]/gu, '')
    .replace(/[\ufb00-\ufb06]/g, (ligature) => ligature.normalize('NFKC'))
    .replace(/\P{M}\p{M}{1,8}/gu, (letter) => letter.normalize('NFC'));
}

function markedEncoding([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : undefined;
}

function decode(bytes: Uint8Array, label: string): string {
  try {
    // In UTF-16, half a character becomes U+FFFD.
    return new TextDecoder(label, { fatal: !label.startsWith('utf-16') }).decode(bytes);
  } catch (cause) {
    const isUnknown = cause instanceof RangeError;
    const fault = isUnknown ? `declares the unknown encoding ${label}` : `is not ${label.toUpperCase()} text`;
    throw new UnreadableDocument(fault, { cause });
  }
}
