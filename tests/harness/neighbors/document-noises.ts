import type { Neighborhood } from './neighborhood.ts';
import { ask, type Noise, removeDocuments, upload, usualGrownMbMax } from './noise.ts';

const megabyte = 1_000_000;
const sentence = 'Refunds are paid within 30 days of the return of the goods. ';

/** A paragraph of every section answers the question, so that a search finds them all. */
const canonicalLink = (bytes: number) =>
  Buffer.from(
    `<html><head><title>Refunds</title><link rel="canonical" href="https://x.example/${'a'.repeat(bytes)}"></head>` +
      `<body>${`<h2>Refunds</h2><p>${sentence.repeat(12)}</p>`.repeat(150)}</body></html>`,
  );
const longHeading = Buffer.from(
  `# ${'h'.repeat(130_000)}\n\n${Array.from({ length: 2_800 }, (_, place) => `## ${place}\n\n${sentence}\n\n`).join('')}`,
);
const manySections = Buffer.from('# a\nb\n'.repeat(2_900_000 / 6));
const slowMarkdown = Buffer.from('*a_'.repeat(30_000));
const large = Buffer.alloc(50 * megabyte, sentence);

const outcomes = ['201', '400', '429', '200', 'cut off'];

/** Uploads concurrently, then removes what was stored. */
async function uploadAndRemove({ noisy }: Neighborhood, count: number, name: string, file: Buffer) {
  const uploads = Array.from({ length: count }, (_, place) => upload(noisy, `${place}-${name}`, file));
  return [...(await Promise.all(uploads)), ...(await removeDocuments(noisy))];
}

export const documentNoises: readonly Noise[] = [
  {
    name: 'a document with a link of 45 MB, and replies that find it',
    outcomes: ['201', 'completed', '200'],
    grownMbMax: usualGrownMbMax,
    isAboutStore: true,
    async make({ noisy }, size) {
      const [megabytes, count] = size === 'full' ? [45, 20] : [5, 5];
      const uploaded = await upload(noisy, 'refunds.html', canonicalLink(megabytes * megabyte));
      const asked = Array.from({ length: count }, () => ask(noisy, 'When are refunds paid?'));
      return [uploaded, ...(await Promise.all(asked)), ...(await removeDocuments(noisy))];
    },
  },
  {
    name: 'a heading of 130 kB above 2,800 sections',
    outcomes,
    grownMbMax: usualGrownMbMax,
    isAboutStore: true,
    make: (world) => uploadAndRemove(world, 1, 'headings.md', longHeading),
  },
  {
    name: '2.9 MB of `# a` and `b`',
    outcomes,
    grownMbMax: usualGrownMbMax,
    isAboutStore: false,
    make: (world) => uploadAndRemove(world, 1, 'sections.md', manySections),
  },
  {
    name: '30 uploads of 50 MB at once',
    outcomes,
    grownMbMax: usualGrownMbMax,
    isAboutStore: false,
    make: (world, size) => uploadAndRemove(world, size === 'full' ? 30 : 10, 'large.txt', large),
  },
  {
    name: 'Markdown that takes minutes to parse: 90 kB of `*a_`',
    outcomes,
    grownMbMax: usualGrownMbMax,
    isAboutStore: false,
    make: (world) => uploadAndRemove(world, 1, 'slow.md', slowMarkdown),
  },
];
