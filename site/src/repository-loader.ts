import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Loader } from 'astro/loaders';
import { readPages, resolveLink, withUrls } from './pages.ts';
import { withTabs } from './tabs.ts';

/** The repository's own Markdown, as it is: titles are taken from it, and links between files lead to pages. */
export function repositoryLoader(): Loader {
  return {
    name: 'repository',
    async load({ config, store, parseData, renderMarkdown, generateDigest, watcher }) {
      const repository = fileURLToPath(new URL('..', config.root));
      const fill = async () => {
        store.clear();
        for (const { file, slug, title, body } of readPages(repository)) {
          const text = withTabs(withUrls(body, (link) => resolveLink(repository, file, link).url));
          const rendered = await renderMarkdown(text, { fileURL: pathToFileURL(join(repository, file)) });
          const data = await parseData({ id: slug, data: { title, pagefind: !isForContributors(slug) } });
          store.set({ id: slug, data, body: text, rendered, digest: generateDigest(text) });
        }
        const data = await parseData({ id: '404', data: notFound });
        store.set({ id: '404', data, body: '', rendered: await renderMarkdown(whereToGo) });
      };
      await fill();
      watcher?.add(join(repository, 'docs'));
      watcher?.on('change', (path) => void (path.endsWith('.md') && fill()));
    },
  };
}

const notFound = { title: 'Page not found', template: 'doc', pagefind: false, tableOfContents: false };
const whereToGo =
  'There is no page at this URL. Use the search, or start with [Getting started](/docs/getting-started/), the [API guide](/docs/api-guide/) or [Operating](/docs/operating/).';

/** Pages that mention everything would rank above the page that a reader wants. */
function isForContributors(slug: string): boolean {
  return slug.startsWith('decisions/') || slug === 'spec-coverage';
}
