const ending = /[.!?…。！？]+["”’»)*_]*$/;

/** `… 30 days [1].` */
export function withMarks(text: string, numbers: readonly number[]): string {
  if (numbers.length === 0) return text;
  const end = ending.exec(text.slice(-8))?.[0] ?? '';
  const body = text.slice(0, text.length - end.length).trimEnd();
  return `${body} ${numbers.map((number) => `[${number}]`).join('')}${end}`;
}
