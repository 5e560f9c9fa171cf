import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, matchesGlob, normalize, posix } from 'node:path';
import { referencePage } from './reference.ts';

/** Where the site begins; the service serves it there. */
export const base = '/docs';
/** Files that pages link to are copied here. */
const filesFolder = 'files';
/** Browsers display files with these endings. Others get the ending .txt. */
const shownAsTheyAre = ['.json', '.txt', '.svg', '.png'];

/** The pages in `docs`, and the READMEs next to the code. */
const documents = [
  'docs/**/*.md',
  '*.md',
  '{bench,client,examples}/README.md',
  '{bench,examples}/*/README.md',
];

/** A Markdown file of the repository as a page of the site. */
export interface Page {
  /** Its path in the repository. */
  readonly file: string;
  /** Its URL below `base`, without slashes around it. */
  readonly slug: string;
  readonly title: string;
  /** Without the title. */
  readonly body: string;
}

const reference = 'openapi.json';

/** Every page, in order of the files' paths. */
export function readPages(repository: string): Page[] {
  const pages = globSync([...documents], { cwd: repository })
    .sort()
    .map((file) => {
      const { title, body } = splitTitle(file, readFileSync(join(repository, file), 'utf8'));
      return { file, slug: toSlug(file), title, body };
    });
  const body = referencePage(repository);
  return [...pages, { file: reference, slug: 'reference', title: 'API reference', body }];
}

/** `docs/errors.md` is `errors`, `docs/decisions/README.md` is `decisions`, and `bench/README.md` is `project/bench`. */
export function toSlug(file: string): string {
  if (file === 'docs/README.md') return 'index';
  const [folder, name] = [dirname(file), basename(file, '.md').toLowerCase()];
  if (folder === '.') return `project/${name}`;
  const inside = folder.replace(/^docs\/?/, '');
  const place = folder.startsWith('docs') ? inside : `project/${folder}`;
  return name === 'readme' ? place : posix.join(place, name);
}

/** Pages begin with their title, as code hosts show them; the site shows titles by itself. */
function splitTitle(file: string, text: string): { title: string; body: string } {
  const [line, title] = /^# (.+)\n/.exec(text) ?? [];
  if (line === undefined || title === undefined) throw new Error(`${file} does not begin with a title.`);
  return { title: title.replaceAll('`', ''), body: text.slice(line.length) };
}

/** The URL on the site of what a page links to, and the file that has to be copied for it. */
export interface Target {
  readonly url: string;
  readonly copied?: string;
}

/** A link that leads nowhere stops the build. */
export function resolveLink(repository: string, from: string, link: string): Target {
  const [path, anchor] = link.split('#') as [string, string | undefined];
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (path === '') return { url: hash };
  let file = normalize(join(dirname(from), path)).replace(/\/$/, '');
  if (file === reference) return { url: `${base}/reference/${hash}` };
  const found = statSync(join(repository, file), { throwIfNoEntry: false });
  if (found?.isDirectory()) file = join(file, 'README.md');
  const isPage = documents.some((pattern) => matchesGlob(file, pattern));
  if (!existsSync(join(repository, file)) || (file.endsWith('.md') && !isPage))
    throw new Error(`${from} links to ${link}, which the site does not have.`);
  if (!file.endsWith('.md')) {
    const name = shownAsTheyAre.includes(extname(file)) ? file : `${file}.txt`;
    return { url: `${base}/${filesFolder}/${name}`, copied: file };
  }
  const slug = toSlug(file);
  return { url: `${base}/${slug === 'index' ? '' : `${slug}/`}${hash}` };
}

/** The files that pages link to, other than pages. */
export function linkedFiles(repository: string): { file: string; url: string }[] {
  const found = new Map<string, string>();
  for (const { file, body } of readPages(repository)) {
    withUrls(body, (link) => {
      const { url, copied } = resolveLink(repository, file, link);
      if (copied !== undefined) found.set(copied, url);
      return link;
    });
  }
  return [...found].map(([file, url]) => ({ file, url }));
}

const fenced = /^( *)(`{3,}|~{3,}).*\n[\s\S]*?^\1\2 *$/gm;
const relativeLink = /(\]\()([^)\s]+)(\))/g;

/** The same Markdown with the links between files turned into those between pages. Code stays as it is. */
export function withUrls(body: string, resolve: (link: string) => string): string {
  let end = 0;
  let text = '';
  const rewrite = (prose: string) =>
    prose.replaceAll(relativeLink, (whole, open, link, close) =>
      /^(?:[a-z]+:|\/)/.test(link) ? whole : `${open}${resolve(link)}${close}`,
    );
  for (const block of body.matchAll(fenced)) {
    text += rewrite(body.slice(end, block.index)) + block[0];
    end = block.index + block[0].length;
  }
  return text + rewrite(body.slice(end));
}
