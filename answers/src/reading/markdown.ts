import MarkdownIt from 'markdown-it';
import { checkPassageCount, type Reading } from './blocks.ts';
import { htmlBlocks } from './html.ts';
import type { ReadingLimits } from './reading-limits.ts';
import { UnreadableDocument } from './unreadable-document.ts';

/** Far deeper than any text for people. markdown-it would leave out what is nested more deeply than `maxNesting`. */
const nestingMax = 200;
/**
 * As in markdown-it's preset for CommonMark. It looks for the end of a link through as many open brackets as may be nested:
 * 300,000 in a row take 0.5 seconds, and 6 with the limit for blocks.
 */
const inlineNestingMax = 20;

/** GitHub's Markdown. It is rendered to HTML, so that Markdown and the HTML within it are read by the same rules. */
export function readMarkdown(source: string, limits: ReadingLimits): Reading {
  const [matter = '', fields = ''] = frontMatter.exec(source) ?? [];
  const markdown = new MarkdownIt({ html: true, maxNesting: 2 * nestingMax });
  let [read, headings] = [0, 0];
  // Runs before each block. Stops before the tokens of a huge document fill the memory.
  markdown.block.ruler.before('table', 'limits', ({ level, tokens }) => {
    if (level > nestingMax) throw new UnreadableDocument('is nested too deeply to be read');
    for (; read < tokens.length; read += 1) if (tokens[read]!.type === 'heading_open') headings += 1;
    // Up to six headings in a row can be nested in each other. Only the last of them certainly has its own passage.
    checkPassageCount(headings / 6, limits);
    return false;
  });
  markdown.core.ruler.before('inline', 'nesting', () => {
    markdown.set({ maxNesting: inlineNestingMax });
  });
  const blocks = htmlBlocks(markdown.render(source.slice(matter.length)));
  return { title: readField(fields, 'title'), url: readField(fields, 'url'), blocks };
}

/** YAML between two `---` lines at the top. A horizontal rule looks the same, but no fields follow it. */
const frontMatter =
  /^---[ \t]*\n((?:(?:(?:[\w-]+[ \t]*:|[ \t]|- |#).*)?\n){0,200})(?:---|\.\.\.)[ \t]*(?:\n|$)/;

/** The value of a field that is on its line, without quotes. */
function readField(fields: string, name: string): string | undefined {
  const field = new RegExp(`^${name}:(?![ \\t]*[|>][+-]?[ \\t]*$)[ \\t]*(["']?)(.*)\\1[ \\t]*$`, 'im');
  return field.exec(fields)?.[2];
}
