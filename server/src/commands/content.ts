import { type Dirent, existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join, normalize, sep } from 'node:path';
import { Option } from 'commander';
import { describeFileFault } from '../../../runtime/src/pure/file-fault.ts';
import { orUndefined } from '../../../runtime/src/pure/or-undefined.ts';
import { counted, formatBytes, withCommas } from '../../../runtime/src/pure/text.ts';
import { type DocumentFormats, UnreadableDocument } from '../domain/document.ts';
import type { AddedDocument } from '../usecases/documents/documents.ts';
import { type OrganizationCall, onOrganization, type StoreCommand, whole } from './command.ts';
import { clearStatus, printable, showProgress } from './output.ts';

type Report = (name: string, reason: string) => void;

const accountOption = (meaning: string) => new Option('--account <ID>', meaning);

export const commands: readonly StoreCommand[] = [
  publishing('publish', true, 'Make a thread visible to its organization'),
  publishing('unpublish', false, 'Make a thread visible to its creator only'),
  onOrganization({
    name: 'doc add',
    arguments: { '<FILE...>': 'Files or folders to add' },
    options: [accountOption('Use the documents only in threads of this account')],
    summary: 'Add files or folders as documents: Markdown, text, HTML, PDF',
    examples: ['doc add Acme handbook.pdf', 'doc add Acme docs/ --account acct_42'],
    async run(call: OrganizationCall<{ account?: string }>, ...paths) {
      const { account: accountId = null } = call.options;
      const added: (AddedDocument & { readonly name: string })[] = [];
      const failed: { readonly name: string; readonly reason: string }[] = [];
      const report: Report = (name, fault) => {
        const reason = isMisread(name) ? 'has a name that is not UTF-8: rename it' : fault;
        failed.push({ name, reason });
        clearStatus();
        process.stderr.write(`${printable(name)}: ${reason}\n`);
      };
      const files = paths.flatMap((path) => filesIn(path, call.useCases.documents.formats, report));
      for (const [index, name] of files.entries()) {
        showProgress(index, files.length, printable(name));
        try {
          const file = { name, path: name, accountId };
          added.push({ name, ...(await call.useCases.documents.add(call, file)) });
        } catch (error) {
          // An unreadable file does not stop the others; any other error does.
          if (!(error instanceof UnreadableDocument)) throw error;
          report(name, error.message);
        }
      }
      clearStatus();
      const rows = added.map(({ id, title, passageCount, replaced }) => ({
        ID: id,
        PASSAGES: counted(passageCount, 'passage'),
        TITLE: replaced ? `${title} (replaced)` : title,
      }));
      const isPartial = failed.length > 0 && added.length > 0;
      const missed = isPartial ? [`${failed.length} could not be added: see above.`] : [];
      return {
        json: { ...(added[0] && { id: added[0].id }), documents: added, failed },
        text: [{ rows, whenEmpty: 'No documents were added.' }, ...missed],
        exitCode: failed.length > 0 || added.length === 0 ? 1 : 0,
      };
    },
  }),
  onOrganization({
    name: 'doc list',
    summary: "Show an organization's documents",
    examples: ['doc list Acme'],
    async run(call) {
      const { documents, storage } = await call.useCases.documents.list(call.organizationId);
      const rows = documents.map((document) => ({
        ID: document.id,
        ACCOUNT: document.accountId ?? '-',
        PASSAGES: counted(document.passageCount, 'passage'),
        TITLE: document.title,
        FILE: document.name,
      }));
      const { documents: count, documentsMax, bytes, bytesMax } = storage;
      const stored = `${withCommas(count)} of ${counted(documentsMax, 'document')}, ${formatBytes(bytes)} of ${formatBytes(bytesMax)} of text`;
      const whenEmpty = "No documents yet: 'skein doc add ORG FILE' adds one.";
      return { json: documents, text: [{ rows, whenEmpty }, `\n${stored}`] };
    },
  }),
  onOrganization({
    name: 'doc remove',
    arguments: { '<DOC_ID>': 'Id of the document, doc_…' },
    summary: 'Remove a document. Replies that cite it stay unchanged.',
    examples: ['doc remove Acme doc_01…'],
    async run(call, id = '') {
      await call.useCases.documents.remove(call, id);
      return { json: { id, removed: true }, text: `Removed ${id}.` };
    },
  }),
  onOrganization({
    name: 'doc search',
    arguments: { '<QUESTION>': 'The question, in quotes' },
    options: [
      accountOption('Search as in a thread of this account'),
      new Option('--limit <N>', 'How many passages; 5 by default').argParser(whole(1)),
    ],
    summary: 'Show the passages that a reply would use. The best passage comes first.',
    examples: ['doc search Acme "How long do refunds take?" --limit 3'],
    async run(call: OrganizationCall<{ account?: string; limit?: number }>, question = '') {
      const { account = null, limit = 5 } = call.options;
      const { documents } = call.useCases;
      const { searched, passages } = await documents.search(call.organizationId, account, question, limit);
      const found = passages.map(({ documentId, title, heading, text }, index) => {
        const place = heading === '' ? title : `${title} › ${heading}`;
        return `${index + 1}. ${place}  (${documentId})\n${text.replace(/^/gm, '   ')}`;
      });
      return {
        json: { searched, passages },
        text: found.length > 0 ? found.join('\n\n') : `Nothing found in ${counted(searched, 'passage')}.`,
      };
    },
  }),
];

function publishing(verb: string, published: boolean, summary: string): StoreCommand {
  return onOrganization({
    name: `thread ${verb}`,
    arguments: { '<THREAD_ID>': 'Id of the thread, thr_…' },
    summary,
    examples: [`thread ${verb} Acme thr_01…`],
    async run(call, id = '') {
      await call.useCases.threads.publish(call, id, published);
      const text = `${id} is ${published ? 'published' : 'no longer published'}.`;
      return { json: { id, published }, text };
    },
  });
}

/** False for a path that cannot be read, so that reading it as a file reports why. */
function isFolder(path: string): boolean {
  return orUndefined(() => statSync(path).isDirectory()) ?? false;
}

/**
 * The file itself, or every document below a folder, sorted by name. Reports folders that cannot be read, and a folder
 * without documents. Hidden files and folders, whose names start with a dot, are skipped. Links to files in the folder count
 * as files; links to folders are not followed because they may be circular.
 */
function filesIn(path: string, formats: DocumentFormats, report: Report): string[] {
  if (!isFolder(path)) return [normalize(path)];
  const files: string[] = [];
  let isRead = true;
  const folders = [normalize(path)];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    try {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        if (entry.name.startsWith('.')) continue;
        const name = join(folder, entry.name);
        const isDocument = formats.endings.some((ending) => name.toLowerCase().endsWith(ending));
        if (entry.isDirectory()) folders.push(name);
        else if (isDocument && isFileWithin(path, entry, name)) files.push(name);
      }
    } catch (error) {
      isRead = false;
      report(folder, describeFileFault((error as NodeJS.ErrnoException).code));
    }
  }
  if (isRead && files.length === 0)
    report(path, `contains no file of a supported type: use ${formats.summary}`);
  return files.sort();
}

/** Node.js replaces the bytes of a name that are not UTF-8, so the file cannot be found by the name that it reports. */
function isMisread(name: string): boolean {
  return name.includes('\uFFFD') && !existsSync(name);
}

/** Links out of the folder are not followed: a folder from another source must not add other files of this machine. */
function isFileWithin(folder: string, entry: Dirent, name: string): boolean {
  if (!entry.isSymbolicLink()) return entry.isFile();
  const target = statSync(name, { throwIfNoEntry: false });
  // A broken link is reported as a file that cannot be read.
  if (target === undefined) return true;
  return !target.isDirectory() && realpathSync(name).startsWith(join(realpathSync(folder), sep));
}
