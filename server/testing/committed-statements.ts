import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { numbered } from '../src/storage/postgres/database.ts';
import { now } from '../src/storage/postgres/store-time.ts';
import { type Dialect, type Statement, statements } from '../src/storage/sql/sql.ts';
import { sqliteText } from '../src/storage/sqlite/transactions.ts';

const folder = join(import.meta.dirname, '../src/storage');

export const committedFile = (dialect: Dialect) => join(folder, `statements.${dialect}.sql`);

const readCommitted = (dialect: Dialect) => readFileSync(committedFile(dialect), 'utf8');

const explanation = {
  sqlite: `-- Every statement that runs on SQLite, as it runs. \`:name\` is a value: the driver binds it by name or by position.`,
  postgres: `-- Every statement that runs on PostgreSQL, as it runs, except that values have names: \`:name\` is sent as $1, $2, …, in the
-- order in which the names first appear, and \`:now\` stands for
-- ${now}.`,
};

const textIn: Record<Dialect, (statement: Statement) => string> = {
  sqlite: sqliteText,
  postgres: (statement) => numbered(statement).named,
};

/** The files of the statements that are made now, in the order of their source. */
function sources(): { file: string; name: RegExp }[] {
  const files = globSync('**/*.ts', { cwd: folder, exclude: (name) => name.endsWith('.test.ts') }).sort();
  return files.flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(/tatement\(\s*(?:'([^']+)'|`([^`]+)`)/g)].map(
      ([, plain, generated]) => {
        const pattern = (plain ?? generated!).replace(/\$\{.*?\}/g, '.+');
        return { file, name: new RegExp(`^${pattern}$`) };
      },
    ),
  );
}

/** Removes the indentation that the lines after the first one share. */
function dedent(text: string): string {
  const lines = text
    .trim()
    .split('\n')
    .filter((line) => line.trim() !== '');
  const indents = lines.slice(1).map((line) => line.length - line.trimStart().length);
  const shared = Math.max(0, Math.min(...indents) - 2);
  return lines.map((line, index) => (index === 0 ? line : line.slice(shared)).trimEnd()).join('\n');
}

/** What the committed file has to be: under each file, its statements with their names. */
export function renderStatements(dialect: Dialect): string {
  const places = sources();
  const entries = [...statements[dialect].values()].map((statement) => {
    const place = places.findIndex(
      ({ file, name }) =>
        name.test(statement.name) && (!/^(?:sqlite|postgres)\//.test(file) || file.startsWith(dialect)),
    );
    if (place < 0) throw new Error(`No file makes the statement ${statement.name}.`);
    return { place, statement };
  });
  entries.sort((a, b) => a.place - b.place || (a.statement.name < b.statement.name ? -1 : 1));
  const blocks = entries.map(({ place, statement }, index) => {
    const { file } = places[place]!;
    const isFirst = index === 0 || places[entries[index - 1]!.place]!.file !== file;
    return `${isFirst ? `-- file: ${file}\n\n` : ''}-- name: ${statement.name}\n${dedent(textIn[dialect](statement))};\n`;
  });
  return `${explanation[dialect]}\n-- \`npm run statements\` writes this file.\n\n${blocks.join('\n')}`;
}

/** The texts of a committed file by their names. */
export function parseStatements(text: string): Map<string, string> {
  const blocks = text.split(/^-- name: /m).slice(1);
  return new Map(
    blocks.map((block) => {
      const end = block.indexOf('\n');
      return [block.slice(0, end), block.slice(end + 1, block.indexOf(';\n'))];
    }),
  );
}

/** The statements of this process that are not committed as they are. */
export function uncommittedStatements(dialect: Dialect): string[] {
  const committed = parseStatements(readCommitted(dialect));
  const all = [...statements[dialect].values()];
  return all
    .filter((statement) => committed.get(statement.name) !== dedent(textIn[dialect](statement)))
    .map(({ name }) => name);
}
