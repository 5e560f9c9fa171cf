import { CopyButton } from '../app/copy-button.tsx';
import classes from './markdown.module.css';
import type { HtmlNode } from './reply-marks.ts';

/** A block of code with its language and a copy button. */
export function CodeBlock({ node }: { node: HtmlNode }) {
  const code = node.children?.find(({ tagName }) => tagName === 'code');
  const text = textOf(code ?? node).replace(/\n$/, '');
  const language = languageOf(code);
  return (
    <figure className={classes.code}>
      <figcaption className={classes.codeHead}>
        <span>{language ?? 'Code'}</span>
        <CopyButton compact value={text} label="Copy code" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll it with the arrow keys. */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}

function textOf(node: HtmlNode): string {
  return node.type === 'text' ? (node.value ?? '') : (node.children ?? []).map(textOf).join('');
}

function languageOf(code: HtmlNode | undefined): string | undefined {
  const names = code?.properties?.className;
  const name = Array.isArray(names) ? names.find((one) => String(one).startsWith('language-')) : undefined;
  return name === undefined ? undefined : String(name).slice('language-'.length);
}
