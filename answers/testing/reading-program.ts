const programs = ['answer-tasks.ts', 'parse-document.ts'].map((file) =>
  JSON.stringify(new URL(`../src/reading/${file}`, import.meta.url)),
);

/**
 * A program that runs `code` in place of the parser, which it may call as `parseDocument`: what a hostile file could do that
 * has taken over its parser. `atStart` runs before the first file.
 */
export function toProgramUrl(code: string, atStart = ''): URL {
  const source = `
    import { answerTasks } from ${programs[0]};
    import { parseDocument } from ${programs[1]};
    ${atStart}
    await answerTasks(async (name, bytes, limits) => {
      const text = new TextDecoder().decode(bytes);
      ${code}
    });`;
  return new URL(`data:text/javascript,${encodeURIComponent(source)}`);
}
