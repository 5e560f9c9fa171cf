/** A Markdown table: header, rule and rows, one line each. */
export function tableText(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [rowLine(header), rowLine(header.map(() => '---')), ...rows.map(rowLine)].join('\n');
}

function rowLine(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** The cells of one line of a Markdown table. */
export function cellsOf(line: string): string[] {
  return line
    .replace(/^\s*\||\|\s*$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** Whether a line separates a table's header from its rows. */
export function isTableRule(line: string): boolean {
  return /^\|(?: :?-{3,}:? \|)+$/.test(line);
}

/**
 * A row as one sentence: 'Header: cell; Header: cell', without empty cells. Two cells without a header are a name and
 * its value: 'Name: value'.
 */
export function rowText(header: readonly string[], cells: readonly string[]): string {
  const isPair = cells.length === 2 && cells.every(Boolean) && header.every((label) => label === '');
  if (isPair) return labelled(cells[0]!, cells[1]!);
  return cells
    .map((cell, column) => (cell === '' ? '' : labelled(header[column] ?? '', cell)))
    .filter((part) => part !== '')
    .join('; ');
}

function labelled(label: string, cell: string): string {
  return label === '' || label === cell ? cell : `${label.replace(/ ?:$/, '')}: ${cell}`;
}
