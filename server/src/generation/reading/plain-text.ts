import { type Block, evenSpaces, type Reading } from './blocks.ts';

const titleLengthMax = 100;
const marker = /^\s{0,40}(?:[-*•‣–]|\d{1,3}[.)]) +(?=\S)/;

/** Paragraphs stand between empty lines; lines with a marker are a list; an underlined line is a heading. */
export function readPlainText(text: string): Reading {
  const blocks = text.split(/\n\s*\n/).flatMap(blocksOf);
  const [first, second] = blocks;
  const opensWithTitle = first?.kind === 'paragraph' && second !== undefined && isTitle(first.text);
  if (!opensWithTitle) return { blocks };
  return { blocks: [{ kind: 'heading', level: 1, text: first.text }, ...blocks.slice(1)] };
}

/** Whether a line by itself is what the text is called, not its first sentence. */
export function isTitle(line: string): boolean {
  return line.length <= titleLengthMax && /[\p{L}\p{N}]/u.test(line) && !/[.,:;!]$/.test(line);
}

function blocksOf(paragraph: string): Block[] {
  const blocks: Block[] = [];
  let open: { kind: 'paragraph' | 'item'; lines: string[] } | undefined;
  const close = () => {
    const text = evenSpaces(open?.lines.join(' ') ?? '');
    if (open !== undefined && text !== '') blocks.push({ kind: open.kind, text });
    open = undefined;
  };
  for (const line of paragraph.split('\n')) {
    const level = underlineLevel(line);
    const mark = marker.exec(line);
    if (level !== undefined && open?.kind === 'paragraph' && open.lines.length === 1) {
      blocks.push({ kind: 'heading', level, text: evenSpaces(open.lines[0] ?? '') });
      open = undefined;
    } else if (level !== undefined) {
      close();
    } else if (mark !== null) {
      close();
      open = { kind: 'item', lines: [line.slice(mark[0].length)] };
    } else {
      open ??= { kind: 'paragraph', lines: [] };
      open.lines.push(line);
    }
  }
  close();
  return blocks;
}

function underlineLevel(line: string): number | undefined {
  if (/^\s{0,3}={3,}\s*$/.test(line)) return 1;
  return /^\s{0,3}(?:-{3,}|~{3,}|_{3,}|\*{3,})\s*$/.test(line) ? 2 : undefined;
}
