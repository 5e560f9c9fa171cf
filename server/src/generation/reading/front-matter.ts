import { webAddress } from './blocks.ts';

const linesMax = 200;

export interface FrontMatter {
  readonly title: string | undefined;
  readonly url: string | undefined;
  /** The document without it. */
  readonly body: string;
}

/** YAML between two `---` lines at the top. Of it only plain `title:` and `url:` lines are understood. */
export function splitFrontMatter(text: string): FrontMatter {
  const none = { title: undefined, url: undefined, body: text };
  if (!/^---[ \t]*\n/.test(text)) return none;
  const lines = text.split('\n', linesMax);
  const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  const fields = lines.slice(1, end);
  // A line across the page looks the same: what stands under it is then no list of fields.
  if (end < 0 || !fields.every((line) => line === '' || /^(?:[\w-]+\s*:|\s|- |#)/.test(line))) return none;
  const bodyAt = lines.slice(0, end + 1).reduce((length, line) => length + line.length + 1, 0);
  return {
    title: fieldOf(fields, 'title'),
    url: webAddress(fieldOf(fields, 'url')),
    body: text.slice(bodyAt),
  };
}

function fieldOf(lines: readonly string[], name: string): string | undefined {
  const line = lines.find((candidate) => candidate.toLowerCase().startsWith(`${name}:`));
  const value = line?.slice(name.length + 1).trim() ?? '';
  const unquoted = /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
  return unquoted === '' || /^[|>][+-]?$/.test(unquoted) ? undefined : unquoted;
}
