/** Whether a text can be stored and shown unchanged: PostgreSQL does not allow NUL, and UTF-8 no lone surrogates. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Cuts the text to at most `lengthMax` code points, ending with an ellipsis if it was cut. */
export function cutText(text: string, lengthMax: number): string {
  // Read only the beginning, because the text can be megabytes long.
  const letters = [...text.slice(0, 2 * (lengthMax + 1))];
  if (letters.length <= lengthMax) return text;
  const beginning = letters.slice(0, lengthMax - 1).join('');
  return `${beginning.trimEnd()}…`;
}

/** Created on first use: the first use of `Intl` takes 19 ms, which would delay the start. */
let graphemes: Intl.Segmenter | undefined;

/** What people see as the characters of a text: an emoji may have several code points. */
export function splitGraphemes(text: string): Iterable<Intl.SegmentData> {
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return graphemes.segment(text);
}

/** Each run of white space and control characters becomes one space. */
export function inOneLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
}

/** The text in one line, cut between words with an ellipsis if it is too long. */
export function shortened(text: string, lengthMax: number): string {
  const plain = inOneLine(text.toWellFormed());
  if (plain.length <= lengthMax) return plain;
  const cut = plain.slice(0, lengthMax - 1).toWellFormed();
  const space = cut.lastIndexOf(' ');
  return `${(space > lengthMax / 2 ? cut.slice(0, space) : cut).replace(/[\s,;:.\ufffd]+$/, '')}…`;
}

/** `1 passage`, `2,000 passages`. */
export function counted(count: number, noun: string): string {
  return `${withCommas(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `2,000`, for people. `toLocaleString` takes 17 µs. */
export function withCommas(count: number): string {
  return `${count}`.replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Formats a size like `50 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB'];
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${Number((bytes / 1024 ** step).toFixed(1))} ${units[step]}`;
}

/** Control characters, zero-width and bidi controls, fillers, unassigned code points, halves of a surrogate pair. */
const invisible = String.raw`\p{Cc}\p{Cf}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}`;
/** U+2800 is the blank Braille pattern. */
export const visibleCharacter = new RegExp(String.raw`[^\s\u2800${invisible}]`, 'u');
/** A joiner or a variation selector is kept inside an emoji, because it changes how the emoji looks. */
const insideEmoji = String.raw`(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?)\u200D(?=\p{Extended_Pictographic})|(?<=\p{Extended_Pictographic})\uFE0F`;
const invisibleCharacters = new RegExp(`(?!${insideEmoji})[${invisible}]`, 'gu');

/** The line without control and invisible characters. A tab becomes a space. */
export function withoutInvisible(line: string): string {
  if (/^[\x20-\x7e]*$/.test(line)) return line;
  return line.replace(/[\t\v\f\x85]/g, ' ').replace(invisibleCharacters, '');
}

/**
 * Control characters, which could change what a terminal shows or break the line, and characters that reverse the
 * direction of what follows.
 */
export const unprintable = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;

/** For one line. Replaces unprintable characters. */
export function printable(text: string): string {
  return text.replace(unprintable, '\uFFFD');
}

/** For a text of several lines, which may have tabs. Its direction is left alone: it cannot affect what is around the text. */
export function printableLines(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(/[^\P{Cc}\n\t]/gu, '\uFFFD');
}

/** The number of characters to insert, remove or replace to turn one text into the other. */
export function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [place, letter] of [...one].entries()) {
    const next = [place + 1];
    for (let index = 0; index < other.length; index += 1) {
      const replaced = row[index]! + (other[index] === letter ? 0 : 1);
      next.push(Math.min(replaced, row[index + 1]! + 1, next[index]! + 1));
    }
    row = next;
  }
  return row[other.length]!;
}
