import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const inlineScript = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;
const inlineStyle = /<style[^>]*>([\s\S]*?)<\/style>/g;

/**
 * The content security policy of a built site. It allows only the inline code that was built into the pages. Astro's own
 * policy leaves out scripts that Starlight marks as inline.
 */
export function buildPolicy(built: string): string {
  const pages = globSync('**/*.html', { cwd: built }).map((file) => readFileSync(join(built, file), 'utf8'));
  return [
    "default-src 'none'",
    // The search is WebAssembly.
    `script-src 'self' 'wasm-unsafe-eval' ${hashes(pages, inlineScript)}`,
    `style-src 'self' ${hashes(pages, inlineStyle)}`.trim(),
    // The colors of code are style attributes. No page contains input from a caller.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function hashes(pages: string[], element: RegExp): string {
  const contents = pages.flatMap((page) =>
    [...page.matchAll(element)].map(([, content]) => content as string),
  );
  return [...new Set(contents)]
    .map((content) => `'sha256-${createHash('sha256').update(content).digest('base64')}'`)
    .sort()
    .join(' ');
}
