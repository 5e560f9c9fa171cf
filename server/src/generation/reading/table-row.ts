/** A row that can be read by itself: 'Header: cell; Header: cell'. Empty cells are left out. */
export function rowText(header: readonly string[], cells: readonly string[]): string {
  return cells
    .map((cell, column) => (cell === '' ? '' : labelled(header[column] ?? '', cell)))
    .filter((part) => part !== '')
    .join('; ');
}

function labelled(label: string, cell: string): string {
  return label === '' || label === cell ? cell : `${label.replace(/ ?:$/, '')}: ${cell}`;
}
