import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../service/service.ts';

/** A fenced block of a page. */
export interface Sample {
  readonly language: string;
  readonly text: string;
  /** The expected output: the block of text or JSON directly below it, if there is one. */
  readonly output: string | undefined;
}

interface PageOfSamples {
  /** The path of the page in the repository. */
  readonly page: string;
  readonly samples: readonly Sample[];
}

/** Languages that are run and can therefore print something. */
const run = ['sh', 'ts'];

/** Samples that are not run, with the reason. */
export const exempt: readonly { page: string; text: string; because: string }[] = [
  ...parseCommands(
    'docs/virtual-machine.md',
    'it needs root and systemd: package.test.ts installs the package, and deploy.test.ts checks the unit',
  ),
  ...parseCommands(
    'docs/containers.md',
    'it needs a container engine or a cluster: npm run image:test runs the image',
  ),
  ...parseCommands('docs/tour.md', 'readme.test.ts runs them'),
  {
    page: 'docs/getting-started.md',
    text: 'npm ci && npm start',
    because: 'readme.test.ts runs it; here the service is started in a folder of its own',
  },
  {
    page: 'docs/getting-started.md',
    text: 'npm run --silent client:build',
    because: 'the tests have built the client, by the same program',
  },
  {
    page: 'docs/deploying.md',
    text: 'npx skein serve --role api\nnpx skein serve --role worker',
    because: 'they do not end by themselves: settings.test.ts in this folder starts both',
  },
  {
    page: 'docs/decisions/0006-a-route-is-one-value.md',
    text: readSample('docs/decisions/0006-a-route-is-one-value.md'),
    because: 'it measures: a record of its time, whose figures are no promise',
  },
];

/** Every page under `docs` that contains a block. */
export const pages: readonly PageOfSamples[] = globSync('docs/**/*.md', { cwd: root })
  .sort()
  .map((page) => ({ page, samples: parseSamples(readFileSync(join(root, page), 'utf8')) }))
  .filter(({ samples }) => samples.length > 0);

/** The blocks of a language to run, by page. */
export function toRun(language: string): PageOfSamples[] {
  return pages
    .map(({ page, samples }) => ({
      page,
      samples: samples.filter((sample) => sample.language === language && !isExempt(page, sample)),
    }))
    .filter(({ samples }) => samples.length > 0);
}

function isExempt(page: string, { text }: Sample): boolean {
  return exempt.some((exemption) => exemption.page === page && exemption.text.trim() === text.trim());
}

/** Includes blocks inside lists, which are indented. */
export function parseSamples(markdown: string): Sample[] {
  const blocks = [...markdown.matchAll(/^( *)```(\w+)\n([\s\S]*?)^\1```$/gm)].map((found) => ({
    language: found[2] as string,
    text: (found[3] as string).replaceAll(new RegExp(`^${found[1]}`, 'gm'), ''),
    begin: found.index,
    end: found.index + found[0].length,
  }));
  return blocks.map(({ language, text, end }, index) => {
    const next = blocks[index + 1];
    const isOutput =
      next !== undefined &&
      run.includes(language) &&
      ['text', 'json'].includes(next.language) &&
      markdown.slice(end, next.begin).trim() === '';
    return { language, text, output: isOutput ? next.text : undefined };
  });
}

/** All commands of a page, which has to be exempted as a whole. */
function parseCommands(page: string, because: string): { page: string; text: string; because: string }[] {
  return parseSamples(readFileSync(join(root, page), 'utf8'))
    .filter(({ language }) => language === 'sh')
    .map(({ text }) => ({ page, text, because }));
}

function readSample(page: string): string {
  return parseSamples(readFileSync(join(root, page), 'utf8'))[0]?.text ?? '';
}
