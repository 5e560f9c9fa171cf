/** No text for people comes near it. The lexer takes 9 s for 100,000 markers in one line, 33 s for 1,500 lists in lists. */
const nestingMax = 100;

const rule = '(?:[ \\t]*[-*])+[ \\t]*$';
const marker = '(?:[-+*]|\\d{1,9}[.)])[ \\t]';
const nestedInLine = new RegExp(`^(?!${rule})(?:[ \\t]{0,3}(?:>|${marker})){${nestingMax}}`, 'm');
const listLine = new RegExp(`^([ \\t]*)${marker}`);

/** Whether quotes and lists stand in each other more deeply than the lexer can bear. A line of markers alone is a rule. */
export function isNestedTooDeeply(text: string): boolean {
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
