import { createCssVariablesTheme, createHighlighterCore, type LanguageInput } from 'shiki/core';
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript';

/** A piece of a line of code. Without a color, it has the color of the text. */
export interface CodeToken {
  readonly text: string;
  readonly color: string | undefined;
}

/** The names of languages after a code fence, and how each is loaded. */
const languages: Readonly<Record<string, LanguageInput>> = {
  bash: () => import('shiki/dist/langs/bash.mjs'),
  c: () => import('shiki/dist/langs/c.mjs'),
  csharp: () => import('shiki/dist/langs/csharp.mjs'),
  css: () => import('shiki/dist/langs/css.mjs'),
  diff: () => import('shiki/dist/langs/diff.mjs'),
  docker: () => import('shiki/dist/langs/docker.mjs'),
  go: () => import('shiki/dist/langs/go.mjs'),
  html: () => import('shiki/dist/langs/html.mjs'),
  java: () => import('shiki/dist/langs/java.mjs'),
  javascript: () => import('shiki/dist/langs/javascript.mjs'),
  json: () => import('shiki/dist/langs/json.mjs'),
  php: () => import('shiki/dist/langs/php.mjs'),
  python: () => import('shiki/dist/langs/python.mjs'),
  rust: () => import('shiki/dist/langs/rust.mjs'),
  sql: () => import('shiki/dist/langs/sql.mjs'),
  toml: () => import('shiki/dist/langs/toml.mjs'),
  tsx: () => import('shiki/dist/langs/tsx.mjs'),
  typescript: () => import('shiki/dist/langs/typescript.mjs'),
  xml: () => import('shiki/dist/langs/xml.mjs'),
  yaml: () => import('shiki/dist/langs/yaml.mjs'),
};

const aliases: Readonly<Record<string, string>> = {
  'c#': 'csharp',
  // The grammar of C++ alone is larger than the rest of the page.
  'c++': 'c',
  cpp: 'c',
  cs: 'csharp',
  dockerfile: 'docker',
  golang: 'go',
  js: 'javascript',
  jsx: 'tsx',
  py: 'python',
  rs: 'rust',
  sh: 'bash',
  shell: 'bash',
  ts: 'typescript',
  yml: 'yaml',
  zsh: 'bash',
};

/** The colors are variables of the page, so that they follow its color scheme. */
const theme = createCssVariablesTheme({ name: 'skein', variablePrefix: '--code-' });

const highlighter = createHighlighterCore({
  themes: [theme],
  langs: [],
  engine: createJavaScriptRegexEngine({ forgiving: true }),
});

/** A line that takes longer keeps one color. The first line of a language takes longest: its patterns are compiled. */
const lineMsMax = 1000;
/** So does a longer line. Its time is checked between matches, and one pattern may compare the whole line many times. */
const lineLengthMax = 1000;

/** The lines of the code in colors; undefined if the language is unknown. */
export async function highlight(code: string, name: string): Promise<CodeToken[][] | undefined> {
  const lang = aliases[name.toLowerCase()] ?? name.toLowerCase();
  const language = Object.hasOwn(languages, lang) ? languages[lang] : undefined;
  if (language === undefined) return undefined;
  const loaded = await highlighter;
  await loaded.loadLanguage(language);
  const limits = { tokenizeTimeLimit: lineMsMax, tokenizeMaxLineLength: lineLengthMax };
  const lines = loaded.codeToTokensBase(code, { lang, theme: 'skein', ...limits });
  return lines.map((line) => line.map(({ content, color }) => ({ text: content, color })));
}
