import type { HtmlNode } from './reply-marks.ts';

/**
 * `$$…$$`, `\[…\]`, `\(…\)`, and `$…$` in one line. `$5 to $10` is not a formula: a space precedes its second sign.
 * Formulas do not reach into or out of code.
 */
const formula =
  /\$\$[^$`]{1,2000}\$\$|\\\[[^`]{1,2000}?\\\]|\\\([^\n`]{1,500}?\\\)|(?<![\\$\w])\$(?=[^\s$])[^$\n`]{1,300}(?<=[^\s$\\])\$(?![\d$\w])/g;
const syntax = '\\*_~[]<>&|#-+=!';
/** The private use area has a character for each of them. */
const privateFrom = 0xe000;

/** Replaces Markdown's syntax in formulas by as many other characters, so that `a_1 * b_1` is not read as emphasis. */
export function hideFormulas(text: string): string {
  if (!/\$|\\[([]/.test(text)) return text;
  return text.replace(formula, (found) =>
    [...found]
      .map((letter) => {
        const at = syntax.indexOf(letter);
        return at < 0 ? letter : String.fromCharCode(privateFrom + at);
      })
      .join(''),
  );
}

const hidden = new RegExp(
  `[\\u${privateFrom.toString(16)}-\\u${(privateFrom + syntax.length - 1).toString(16)}]`,
  'g',
);

/** Puts the syntax back after Markdown was read. */
export function showFormulas(): (tree: HtmlNode) => void {
  const show = (node: HtmlNode): void => {
    if (node.value !== undefined)
      node.value = node.value.replace(hidden, (letter) => syntax[letter.charCodeAt(0) - privateFrom]!);
    for (const child of node.children ?? []) show(child);
  };
  return show;
}
