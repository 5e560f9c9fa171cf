import type pg from 'pg';

/** Backends change with every transaction: after this many rounds, one has served both clients. */
const rounds = 5;
const probe = { name: 'skein-pooler-probe', text: 'SELECT pg_backend_pid() AS pid' };
/** invalid_sql_statement_name, duplicate_prepared_statement. */
const statementErrors = new Set(['26000', '42P05']);

/**
 * Rejects a pooler in transaction mode that does not support prepared statements: the service would start and then fail.
 * A pooler does not announce itself, so this tries it out. `client` is connected; a second client is opened only if there
 * is a pooler.
 */
export async function refuseUnfitPooler(client: pg.Client, connect: () => Promise<pg.Client>): Promise<void> {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  // A pooler gives its clients process ids of its own.
  if (rows[0].pid === (client as pg.Client & { processID: number }).processID) return;
  const other = await connect().catch((error: Error) => {
    if (!/unsupported startup parameter/.test(error.message)) throw error;
    throw new Error(`${error.message}: set ignore_startup_parameters = statement_timeout in PgBouncer`);
  });
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const one of [client, other]) await one.query(probe);
    }
  } catch (error) {
    if (!statementErrors.has((error as pg.DatabaseError).code ?? '')) throw error;
    throw new Error(
      'it is behind a pooler in transaction mode that loses prepared statements: set max_prepared_statements above 0 ' +
        '(PgBouncer 1.21 or newer), or pool_mode = session',
    );
  } finally {
    await other.end();
  }
}
