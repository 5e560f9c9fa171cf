/** A fenced block of a document. */
export interface Block {
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks of a text, in order. */
export function parseBlocks(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, text]) => ({
    language: language as string,
    text: text as string,
  }));
}

/** The text under a heading, up to the next one of the same or a higher level. */
export function findSection(markdown: string, heading: string): string {
  const level = /^#+/.exec(heading)?.[0].length ?? 0;
  // A comment in a shell block looks like a heading, so only text outside of blocks counts.
  const lines = markdown.split('\n');
  const visible = withoutBlocks(markdown).split('\n');
  const start = visible.indexOf(heading);
  if (start === -1) throw new Error(`there is no heading '${heading}'`);
  const isEnd = (line: string) => new RegExp(`^#{1,${level}} `).test(line);
  const length = visible.slice(start + 1).findIndex(isEnd);
  return lines.slice(start + 1, length === -1 ? undefined : start + 1 + length).join('\n');
}

/** The cells of all table rows, without header and delimiter rows, and without code marks around a whole cell. */
export function tableRows(markdown: string): string[][] {
  const tables = withoutBlocks(markdown).match(/(?:^\|.*\|\n?)+/gm) ?? [];
  return tables.flatMap((table) =>
    table
      .trim()
      .split('\n')
      .slice(2)
      .map((line) =>
        line
          .slice(1, -1)
          .split(/(?<!\\)\|/)
          .map(cellText),
      ),
  );
}

/** The text with the lines of fenced blocks emptied. */
export function withoutBlocks(markdown: string): string {
  return markdown.replaceAll(/^```\w*\n.*?^```$/gms, (block) => block.replaceAll(/[^\n]/g, ''));
}

function cellText(cell: string): string {
  return cell
    .trim()
    .replaceAll('\\|', '|')
    .replace(/^`([^`]*)`$/, '$1');
}
