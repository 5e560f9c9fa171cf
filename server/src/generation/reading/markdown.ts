import { marked } from 'marked';
import { UnreadableDocument } from '../../domain/document.ts';
import type { Reading } from './blocks.ts';
import { htmlBlocks } from './html.ts';

/** GitHub's Markdown. It is rendered to HTML, so that Markdown and the HTML within it are read by the same rules. */
export function readMarkdown(source: string): Reading {
  const { title, url, body } = splitFrontMatter(source);
  if (isNestedTooDeeply(body)) throw new UnreadableDocument('is nested too deeply to be read');
  return { title, url, blocks: htmlBlocks(marked.parse(body, { async: false })) };
}

const frontMatterLinesMax = 200;

/** Front matter is YAML between two `---` lines at the top. Only plain `title:` and `url:` lines are used. */
function splitFrontMatter(text: string): { title?: string; url?: string; body: string } {
  if (!/^---[ \t]*\n/.test(text)) return { body: text };
  const lines = text.split('\n', frontMatterLinesMax);
  const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  const fields = lines.slice(1, end);
  // A horizontal rule looks the same, but no fields follow it.
  if (end < 0 || !fields.every((line) => line === '' || /^(?:[\w-]+\s*:|\s|- |#)/.test(line)))
    return { body: text };
  const bodyAt = lines.slice(0, end + 1).reduce((length, line) => length + line.length + 1, 0);
  const [title, url] = [fieldOf(fields, 'title'), fieldOf(fields, 'url')];
  return { ...(title && { title }), ...(url && { url }), body: text.slice(bodyAt) };
}

function fieldOf(lines: readonly string[], name: string): string | undefined {
  const line = lines.find((candidate) => candidate.toLowerCase().startsWith(`${name}:`));
  const value = line?.slice(name.length + 1).trim() ?? '';
  const unquoted = /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
  return unquoted === '' || /^[|>][+-]?$/.test(unquoted) ? undefined : unquoted;
}

/** Far more than any text for people. The lexer takes 9 s for 100,000 markers in a line, 33 s for 1,500 nested lists. */
const nestingMax = 100;
const marker = '(?:[-+*]|\\d{1,9}[.)])[ \\t]';
// A line of markers alone is a rule.
const nestedInLine = new RegExp(
  `^(?!(?:[ \\t]*[-*])+[ \\t]*$)(?:[ \\t]{0,3}(?:>|${marker})){${nestingMax}}`,
  'm',
);
const listLine = new RegExp(`^([ \\t]*)${marker}`);

/** Whether quotes and lists are nested more deeply than the lexer can handle in time. */
function isNestedTooDeeply(text: string): boolean {
  if (nestedInLine.test(text)) return true;
  const indents: number[] = [];
  for (const line of text.split('\n')) {
    const indent = listLine.exec(line)?.[1]?.length;
    if (indent === undefined) continue;
    while ((indents.at(-1) ?? -1) >= indent) indents.pop();
    indents.push(indent);
    if (indents.length > nestingMax) return true;
  }
  return false;
}
