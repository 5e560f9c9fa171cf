import { Lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { UnreadableDocument } from '../../domain/document.ts';
import { type Block, evenSpaces, itemBlocks, type Reading } from './blocks.ts';
import { splitFrontMatter } from './front-matter.ts';
import { htmlBlocks } from './html.ts';
import { isNestedTooDeeply } from './markdown-nesting.ts';
import { tableText } from './table.ts';

/** GitHub's Markdown, HTML within it included. */
export function readMarkdown(source: string): Reading {
  const { title, url, body } = splitFrontMatter(source);
  if (isNestedTooDeeply(body)) throw new UnreadableDocument('is nested too deeply to be read');
  return { title, url, blocks: blocksOf(new Lexer({ gfm: true }).lex(body)) };
}

function blocksOf(tokens: readonly Token[]): Block[] {
  return tokens.flatMap((token) => blocksOfToken(token as MarkedToken));
}

function blocksOfToken(token: MarkedToken): Block[] {
  switch (token.type) {
    case 'heading':
      return filled({ kind: 'heading', level: token.depth, text: inlineText(token.tokens) });
    case 'paragraph':
      return filled({ kind: 'paragraph', text: inlineText(token.tokens) });
    case 'text':
      return filled({ kind: 'paragraph', text: inlineText(token.tokens ?? [token]) });
    case 'code':
      return filled({ kind: 'code', text: token.text });
    case 'blockquote':
      return blocksOf(token.tokens);
    case 'list':
      return token.items.flatMap((item) => itemBlocks(blocksOf(item.tokens)));
    case 'table':
      return tableBlocks(token);
    case 'html':
      return htmlBlocks(token.text);
    default:
      return [];
  }
}

function tableBlocks(table: Tokens.Table): Block[] {
  const textsOf = (cells: readonly Tokens.TableCell[]) => cells.map((cell) => inlineText(cell.tokens));
  const rows = table.rows.map(textsOf).filter((row) => row.some((cell) => cell !== ''));
  return rows.length === 0 ? [] : [{ kind: 'table', text: tableText(textsOf(table.header), rows) }];
}

function filled(block: Block): Block[] {
  return block.text.trim() === '' ? [] : [block];
}

function inlineText(tokens: readonly Token[]): string {
  return evenSpaces(tokens.map(rawInlineText).join(''));
}

function rawInlineText(token: Token): string {
  switch (token.type) {
    case 'br':
      return ' ';
    case 'html':
      return /^<br\b/i.test(token.raw) ? ' ' : '';
    case 'image':
    case 'checkbox':
      return '';
    case 'codespan':
    case 'escape':
      return token.text;
    default:
      if ('tokens' in token && token.tokens !== undefined) return token.tokens.map(rawInlineText).join('');
      return 'text' in token ? withReferences(token.text) : '';
  }
}

/** Character references such as `&amp;` replaced by what they stand for. */
function withReferences(text: string): string {
  return text.replace(/&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/gi, (reference) => {
    const [block] = htmlBlocks(`<p>x${reference}x</p>`);
    return block === undefined ? reference : block.text.slice(1, -1);
  });
}
