/** Prints a Markdown table with aligned columns, the first to the left and the others to the right. */
export function printTable(
  title: string,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, 3, ...rows.map((row) => row[column]!.length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => pad(cell, widths[column]!, column)).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  console.log(`\n### ${title}\n\n${line(headings)}\n${line(rule)}`);
  for (const row of rows) console.log(line(row));
}

function pad(cell: string, width: number, column: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}

export function say(sentence: string): void {
  console.log(`\n${sentence}`);
}

export const rate = (perSecond: number) => Math.round(perSecond).toLocaleString('en');
export const ratio = (value: number) => value.toFixed(2);
export const times = (value: number) => `${value.toFixed(2)}×`;
export const ms = (value: number) => value.toFixed(value < 1 ? 2 : 1);
export const micros = (value: number) => (Number.isNaN(value) ? '?' : value.toFixed(value < 100 ? 1 : 0));
