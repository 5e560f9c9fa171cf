const ending = /(?: …|[.!?…。！？]+)["”’»)*_]*$/;

/** `… 30 days [1].` */
export function withMarks(text: string, numbers: readonly number[]): string {
  if (numbers.length === 0) return text;
  const end = ending.exec(text.slice(-8))?.[0] ?? '';
  const body = text.slice(0, text.length - end.length).trimEnd();
  return `${body} ${numbers.map((number) => `[${number}]`).join('')}${end}`;
}

/** Within the last cell of a table's row that holds something: `| Norway | €12 [1] |` */
export function withMarksInRow(row: string, numbers: readonly number[]): string {
  if (numbers.length === 0) return row;
  let end = row.length;
  while (end > 0 && /[\s|]/.test(row.charAt(end - 1))) end--;
  return end === 0 ? row : withMarks(row.slice(0, end), numbers) + row.slice(end);
}
