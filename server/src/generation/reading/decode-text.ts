import { UnreadableDocument } from '../../domain/document.ts';

/** Decodes a file as UTF-8, or as UTF-16 if it has that byte order mark. Line breaks become `\n`. */
export function decodeText(bytes: Uint8Array, encoding = 'utf-8'): string {
  // Backspaces are the bold print of terminals: `N`, backspace, `N`.
  return cleanText(
    decode(bytes, encoding)
      .replace(/[^\n][\b]/g, '')
      .replace(/\r\n?|\u0085|\u2028/g, '\n')
      .replace(/[\f\u2029]/g, '\n\n'),
  );
}

/** The encoding that a page declares in its first bytes, such as ISO-8859-1. Browsers look no further either. */
export function declaredEncoding(page: Uint8Array): string | undefined {
  const head = new TextDecoder('latin1').decode(page.subarray(0, 1024));
  const label = labelsIn(head)[0];
  // A page whose declaration can be read byte by byte is not UTF-16.
  return label === undefined || /^utf-?16/i.test(label) ? undefined : label;
}

/** What `<meta charset>`, `<meta http-equiv="Content-Type">` and the XML declaration name, and no other attribute does. */
function labelsIn(head: string): string[] {
  return [...head.matchAll(/<(?:meta|\?xml)\b([^>]*)/gi)].flatMap(([, attributes = '']) => {
    const found = [...attributes.matchAll(/([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))/g)];
    const values = new Map(found.map(([, name, ...texts]) => [name!.toLowerCase(), texts.join('').trim()]));
    const isContentType = values.get('http-equiv')?.toLowerCase() === 'content-type';
    const content = isContentType
      ? /charset\s*=\s*([\w:-]+)/i.exec(values.get('content') ?? '')?.[1]
      : undefined;
    return values.get('charset') ?? values.get('encoding') ?? content ?? [];
  });
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

function decode(bytes: Uint8Array, encoding: string): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const label = hasMark ? 'utf-8' : encoding;
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch (cause) {
    const isUnknown = cause instanceof RangeError;
    const fault = isUnknown ? `declares the unknown encoding ${label}` : `is not ${label.toUpperCase()} text`;
    throw new UnreadableDocument(fault, { cause });
  }
}
