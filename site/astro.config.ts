import { join } from 'node:path';
import starlight from '@astrojs/starlight';
import { defineConfig } from 'astro/config';
import { base, readPages } from './src/pages.ts';

const slugs = readPages(join(import.meta.dirname, '..')).map(({ slug }) => slug);
const decisions = slugs.filter((slug) => slug.startsWith('decisions/'));

export default defineConfig({
  base,
  trailingSlash: 'always',
  integrations: [
    starlight({
      title: 'Skein',
      favicon: '/favicon.svg',
      logo: { src: './public/favicon.svg' },
      customCss: ['./src/looks.css'],
      components: { SocialIcons: './src/components/header-links.astro' },
      // Whole words before longer ones that begin the same.
      pagefind: { ranking: { termSimilarity: 30 } },
      // No frames: the text says which blocks are for a shell and which are files.
      expressiveCode: { defaultProps: { frame: 'none' } },
      sidebar: [
        { label: 'Start', items: ['index', 'getting-started', 'tour', 'concepts', 'console'] },
        {
          label: 'Guides',
          items: [
            'api-guide',
            'authentication',
            'pagination',
            'errors-and-retries',
            'quotas',
            'language-models',
            'agents',
          ],
        },
        {
          label: 'Reference',
          items: [
            'reference',
            'errors',
            'replies',
            'spec-coverage',
            'proof',
            ...slugs.filter((slug) => slug === 'project/client'),
          ],
        },
        { label: 'Examples', items: slugs.filter((slug) => slug.startsWith('project/examples')) },
        {
          label: 'Operating',
          items: [
            'deploying',
            'virtual-machine',
            'containers',
            'operating',
            'settings',
            'commands',
            'access',
            'documents-and-models',
            'data',
            'monitoring',
            'security',
            'troubleshooting',
            'compatibility',
            'scale',
            ...slugs.filter((slug) => slug.startsWith('project/bench')),
          ],
        },
        {
          label: 'Project',
          items: [
            { label: 'README', slug: 'project/readme' },
            'project/architecture',
            'project/contributing',
            'project/changelog',
          ],
        },
        { label: 'Decisions', collapsed: true, items: ['decisions', ...decisions] },
      ],
    }),
  ],
});
