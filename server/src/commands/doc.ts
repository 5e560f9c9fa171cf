import { documentEndings, UnreadableDocument } from '../domain/document.ts';
import { formatBytes } from '../domain/limits.ts';
import { type AddedDocument, addDocument } from '../usecases/documents/add-document.ts';
import { listDocuments } from '../usecases/documents/list-documents.ts';
import { removeDocument } from '../usecases/documents/remove-document.ts';
import { operatorInitiator } from '../usecases/organization/audit-log.ts';
import { findOrganization } from '../usecases/organization/organization.ts';
import type { SurfaceContext } from '../usecases/surface-context.ts';
import {
  type Arguments,
  counted,
  optionText,
  optionWhole,
  positional,
  printable,
  type StoreCommand,
  table,
  UsageError,
} from './command.ts';
import { filesIn } from './files.ts';
import { ProgressBar } from './progress.ts';

const account = { account: { type: 'string' } } as const;

interface Added extends AddedDocument {
  readonly name: string;
}

interface Failed {
  readonly name: string;
  readonly reason: string;
}

export const docAdd: StoreCommand = {
  name: 'doc add',
  usage: 'ORG FILE… [--account ID]',
  summary: 'Add files or folders that replies use: Markdown, text, HTML, PDF',
  positionals: ['ORG', 'FILE…'],
  options: account,
  async run(context, args) {
    const { id: organizationId } = await findOrganization(context, positional(args, 0));
    const initiator = operatorInitiator(context);
    const accountId = accountOf(args);
    const added: Added[] = [];
    const found = args.positionals.slice(1).map((path) => filesIn(path, documentEndings));
    const files = found.flatMap((one) => one.files);
    const failed: Failed[] = found.flatMap((one) => one.failed);
    for (const { name, reason } of failed) process.stderr.write(`${printable(name)}: ${reason}\n`);
    const progress = new ProgressBar(files.length);
    for (const name of files) {
      progress.show(printable(name));
      try {
        const file = { name, source: { path: name }, accountId };
        added.push({ name, ...(await addDocument(context, organizationId, initiator, file)) });
      } catch (error) {
        // An unreadable file does not stop the others; any other error does.
        if (!(error instanceof UnreadableDocument)) throw error;
        failed.push({ name, reason: error.message });
        progress.clear();
        process.stderr.write(`${printable(name)}: ${error.message}\n`);
      }
      progress.advance();
    }
    progress.clear();
    return {
      json: { ...(added[0] && { id: added[0].id }), documents: added, failed },
      text: describeAdded(added, failed),
      exitCode: failed.length > 0 || added.length === 0 ? 1 : 0,
    };
  },
};

export const docList: StoreCommand = {
  name: 'doc list',
  usage: 'ORG',
  summary: "Show an organization's documents",
  positionals: ['ORG'],
  async run(context, args) {
    const { id } = await findOrganization(context, positional(args, 0));
    const { documents, storage } = await listDocuments(context, id);
    const rows = documents.map((document) => [
      document.id,
      document.accountId ?? '-',
      counted(document.passageCount, 'passage'),
      document.title,
      document.name,
    ]);
    const { documents: count, documentsMax, bytes, bytesMax } = storage;
    const stored = `${count} of ${documentsMax} documents, ${formatBytes(bytes)} of ${formatBytes(bytesMax)} of text`;
    return { json: documents, text: `${table(rows, 'No documents yet.')}\n\n${stored}` };
  },
};

export const docRemove: StoreCommand = {
  name: 'doc remove',
  usage: 'ORG DOC_ID',
  summary: 'Remove a document; replies that cite it stay unchanged',
  positionals: ['ORG', 'DOC_ID'],
  async run(context, args) {
    const organization = await findOrganization(context, positional(args, 0));
    const id = positional(args, 1);
    await removeDocument(context, organization.id, operatorInitiator(context), id);
    return { json: { id, removed: true }, text: `${id} was removed.` };
  },
};

export const docSearch: StoreCommand = {
  name: 'doc search',
  usage: 'ORG QUESTION [--account ID] [--limit N]',
  summary: 'Show the passages that a reply to a question would use, best first',
  positionals: ['ORG', 'QUESTION'],
  options: { ...account, limit: { type: 'string' } },
  async run(context, args) {
    const { id } = await findOrganization(context, positional(args, 0));
    const { searched, passages } = await search(context, args, id);
    const found = passages.map(({ documentId, title, heading, text }, index) => {
      const place = heading === '' ? title : `${title} › ${heading}`;
      return `${index + 1}. ${place}  (${documentId})\n${text.replace(/^/gm, '   ')}`;
    });
    return {
      json: { searched, passages },
      text: found.length > 0 ? found.join('\n\n') : `Nothing found in ${counted(searched, 'passage')}.`,
    };
  },
};

async function search(
  context: SurfaceContext,
  args: Arguments,
  organizationId: Parameters<typeof addDocument>[1],
) {
  const limit = optionWhole(args, 'limit') ?? 5;
  if (limit === 0) throw new UsageError('--limit must be at least 1.');
  return context.library.search(organizationId, accountOf(args), positional(args, 1), limit);
}

/** Null: for every thread. An empty id is rejected: it is probably an unset shell variable. */
function accountOf(args: Arguments): string | null {
  const accountId = optionText(args, 'account') ?? null;
  if (accountId === '') throw new UsageError('--account must not be empty.');
  return accountId;
}

function describeAdded(added: readonly Added[], failed: readonly Failed[]): string {
  const rows = added.map(({ id, title, passageCount, replaced }) => [
    id,
    counted(passageCount, 'passage'),
    replaced ? `${title} (replaced)` : title,
  ]);
  const missed = failed.length === 0 ? '' : `\n${failed.length} could not be added: see above.`;
  return table(rows, 'Nothing was added.') + missed;
}
