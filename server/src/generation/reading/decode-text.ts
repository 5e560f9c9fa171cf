import { UnreadableDocument } from '../../domain/document.ts';

/** The text of a file: UTF-8, or UTF-16 where its first bytes say so. Line breaks become `\n`. */
export function decodeText(bytes: Uint8Array): string {
  const text = decode(bytes);
  // Backspaces are the bold print of terminals: `N`, backspace, `N`.
  return cleanText(
    text
      .replace(/[^\n][\b]/g, '')
      .replace(/\r\n?|\u0085|\u2028/g, '\n')
      .replace(/[\f\u2029]/g, '\n\n'),
  );
}

/**
 * Without what no reader sees: control characters, soft hyphens, zero-width spaces; ligatures become letters,
 * and a letter with its accents one character. Letter by letter: `normalize` takes minutes for 600,000 accents in a row.
 */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\P{Cc}\n\t]|[\u00ad\u200b\ufeff]/gu, '')
    .replace(/[\ufb00-\ufb06]/g, (ligature) => ligature.normalize('NFKC'))
    .replace(/\P{M}\p{M}{1,8}/gu, (letter) => letter.normalize('NFC'));
}

function decode(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new UnreadableDocument('is not UTF-8 text', { cause });
  }
}
