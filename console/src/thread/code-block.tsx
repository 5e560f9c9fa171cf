import { useEffect, useState } from 'react';
import { CopyButton } from '../app/copy-button.tsx';
import type { CodeToken } from './highlight.ts';
import classes from './markdown.module.css';
import type { HtmlNode } from './reply-marks.ts';

/** A block of code with its language and a copy button. */
export function CodeBlock({ node }: { node: HtmlNode }) {
  const code = node.children?.find(({ tagName }) => tagName === 'code');
  const text = readText(code ?? node).replace(/\n$/, '');
  const language = readLanguage(code);
  const lines = useHighlighted(text, language);
  return (
    <figure className={classes.code}>
      <figcaption className={classes.codeHead}>
        <span>{language ?? 'Code'}</span>
        <CopyButton compact value={text} label="Copy code" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll it with the arrow keys. */}
      <pre tabIndex={0}>
        <code>{lines === undefined ? text : <Colored lines={lines} />}</code>
      </pre>
    </figure>
  );
}

/** Longer code would block the page while it is colored. */
const lengthMax = 20_000;
/** Code that is still being written is colored when it pauses. */
const settlingMs = 120;

/** The code in colors; undefined until they are known. The highlighter is loaded with the first code of a known language. */
function useHighlighted(text: string, language: string | undefined): CodeToken[][] | undefined {
  const [colored, setColored] = useState<{ text: string; lines: CodeToken[][] | undefined }>();
  useEffect(() => {
    if (language === undefined || text.length > lengthMax) return;
    let isCurrent = true;
    const timer = setTimeout(async () => {
      // Without the highlighter the code stays readable.
      const lines = await import('./highlight.ts')
        .then(({ highlight }) => highlight(text, language))
        .catch(() => undefined);
      if (isCurrent) setColored({ text, lines });
    }, settlingMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text, language]);
  return colored?.text === text ? colored.lines : undefined;
}

function Colored({ lines }: { lines: readonly CodeToken[][] }) {
  return lines.flatMap((line, at) => [
    ...(at === 0 ? [] : ['\n']),
    ...line.map(({ text, color }, place) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a token is identified by its position.
      <span key={`${at} ${place}`} style={{ color }}>
        {text}
      </span>
    )),
  ]);
}

function readText(node: HtmlNode): string {
  return node.type === 'text' ? (node.value ?? '') : (node.children ?? []).map(readText).join('');
}

function readLanguage(code: HtmlNode | undefined): string | undefined {
  const names = code?.properties?.className;
  const name = Array.isArray(names) ? names.find((one) => String(one).startsWith('language-')) : undefined;
  return name === undefined ? undefined : String(name).slice('language-'.length);
}
