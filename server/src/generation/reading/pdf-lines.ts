/** A line of a page. Positions grow upwards, in points. */
export interface Line {
  readonly text: string;
  readonly page: number;
  readonly x: number;
  readonly y: number;
  /** Of its largest letters. */
  readonly size: number;
}

/** What the parser tells of a run of letters. */
export interface Run {
  readonly str: string;
  readonly transform: readonly number[];
  readonly height: number;
  readonly hasEOL: boolean;
}

/** A line that stands at the top or the foot of this many pages is no part of the text. */
const repetitionsMin = 3;

export function linesOfPage(runs: readonly Run[], page: number): Line[] {
  const lines: Line[] = [];
  let open: Run[] = [];
  const close = () => {
    const text = open
      .map((run) => run.str)
      .join('')
      .replace(/\s+/g, ' ')
      .trim();
    const [first] = open.filter((run) => run.str.trim() !== '');
    if (first !== undefined) lines.push({ text, page, ...placeOf(first), size: sizeOf(open) });
    open = [];
  };
  for (const run of runs) {
    open.push(run);
    if (run.hasEOL) close();
  }
  close();
  return lines;
}

/** Without page numbers and what is repeated from page to page. */
export function withoutRunningLines(pages: readonly (readonly Line[])[]): Line[] {
  const counts = new Map<string, number>();
  for (const line of pages.flatMap(edgesOf)) {
    counts.set(patternOf(line), (counts.get(patternOf(line)) ?? 0) + 1);
  }
  const least = Math.max(repetitionsMin, pages.length / 2);
  return pages.flatMap((lines) => {
    const edges = new Set(edgesOf(lines));
    return lines.filter((line) => {
      const isNumber =
        lines.length > 1 && /^(?:page )?[-–— ]*\d{1,5}[-–— ]*(?:(?:\/|of) ?\d{1,5})?$/i.test(line.text);
      return !edges.has(line) || !(isNumber || (counts.get(patternOf(line)) ?? 0) >= least);
    });
  });
}

function edgesOf(lines: readonly Line[]): Line[] {
  return [...new Set([...lines.slice(0, 1), ...lines.slice(-1)])];
}

function patternOf(line: Line): string {
  return line.text.replace(/\d+/g, '#').toLowerCase();
}

function placeOf(run: Run): { x: number; y: number } {
  return { x: run.transform[4] ?? 0, y: run.transform[5] ?? 0 };
}

function sizeOf(runs: readonly Run[]): number {
  return runs.reduce((size, run) => (run.str.trim() === '' ? size : Math.max(size, run.height)), 0);
}
