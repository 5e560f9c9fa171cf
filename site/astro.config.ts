import { join } from 'node:path';
import starlight from '@astrojs/starlight';
import { defineConfig } from 'astro/config';
import { base, readPages } from './src/pages.ts';

const decisions = readPages(join(import.meta.dirname, '..'))
  .map(({ slug }) => slug)
  .filter((slug) => slug.startsWith('decisions/'));

export default defineConfig({
  base,
  trailingSlash: 'always',
  // Only what came with a page runs in it, and nothing is fetched from elsewhere. What must be said in a header is: see
  // server/src/http/documentation.ts.
  security: {
    csp: {
      directives: [
        "default-src 'none'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
      ],
      // The search is WebAssembly.
      scriptDirective: { resources: ["'self'", "'wasm-unsafe-eval'"] },
      // Colours of code are attributes. They can be no more than looks: no page shows what a caller sent.
      styleDirective: { resources: ["'self'", { resource: "'unsafe-inline'", kind: 'attribute' }] },
    },
  },
  integrations: [
    starlight({
      title: 'Skein',
      favicon: '/favicon.svg',
      logo: { src: './public/favicon.svg' },
      customCss: ['./src/looks.css'],
      credits: false,
      pagination: true,
      sidebar: [
        { label: 'Start', items: ['index', 'getting-started', 'concepts', 'console'] },
        {
          label: 'Guides',
          items: [
            'api-guide',
            'authentication',
            'pagination',
            'errors-and-retries',
            'quotas',
            'language-models',
          ],
        },
        {
          label: 'Reference',
          items: [
            { label: 'API reference', link: '/reference/' },
            'errors',
            'replies',
            'spec-coverage',
            //CLIENT
          ],
        },
        {
          label: 'Operating',
          items: ['deploying', 'operating', 'security', 'troubleshooting', 'scale', 'project/bench'],
        },
        {
          label: 'Project',
          items: ['project/readme', 'project/architecture', 'project/contributing', 'project/changelog'],
        },
        { label: 'Decisions', collapsed: true, items: ['decisions', ...decisions] },
      ],
    }),
  ],
});
