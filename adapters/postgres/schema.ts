import { ConfigError } from '../../src/index.ts'
import { aText, checkOptions, options as optionsOf, withMethods } from '../../src/internal.ts'
import type { SqlPool } from './sql-pool.ts'

/** What `query` is asked of. */
export const aPool = withMethods('a pool', 'query')
const migrateOptions = optionsOf<{ schema?: string }>({ schema: aText })

/** Names that need no quotes. They stand in statements as they are. */
const nameForm = /^[a-z_][a-z0-9_]{0,50}$/

/** Throws `ConfigError` `invalidOption` for what is no plain name of a schema. */
export function assertSchemaName(schema: string): void {
  if (nameForm.test(schema)) return
  throw new ConfigError(
    'invalidOption',
    `${JSON.stringify(schema.slice(0, 100))} is no name for a schema here. Use at most 51 small letters, digits and "_".`,
  )
}

/** What each version adds to the one before. Only ever appended to: databases out there stand at any of them. */
const versions: readonly ((schema: string) => string)[] = [
  (schema) => `
    CREATE SEQUENCE ${schema}.epochs;
    CREATE TABLE ${schema}.sessions (
      tenant text NOT NULL,
      session_id text NOT NULL,
      epoch bigint NOT NULL,
      claimant text NOT NULL,
      agent_id text NOT NULL,
      created_at bigint NOT NULL DEFAULT 0,
      last_active_at bigint NOT NULL DEFAULT 0,
      is_written boolean NOT NULL DEFAULT false,
      digest text,
      PRIMARY KEY (tenant, session_id)
    );
    CREATE INDEX sessions_by_time ON ${schema}.sessions (tenant, last_active_at DESC, session_id DESC) WHERE is_written;
    CREATE TABLE ${schema}.records (
      tenant text NOT NULL,
      session_id text NOT NULL,
      epoch bigint NOT NULL,
      seq bigint NOT NULL,
      line text NOT NULL,
      PRIMARY KEY (tenant, session_id, epoch, seq),
      FOREIGN KEY (tenant, session_id) REFERENCES ${schema}.sessions ON DELETE CASCADE
    );
    CREATE TABLE ${schema}.blobs (
      tenant text NOT NULL,
      session_id text NOT NULL,
      hash text NOT NULL,
      epoch bigint NOT NULL,
      bytes bytea NOT NULL,
      PRIMARY KEY (tenant, session_id, hash, epoch),
      FOREIGN KEY (tenant, session_id) REFERENCES ${schema}.sessions ON DELETE CASCADE
    );`,
]

/**
 * Makes the tables, or brings them up to date. Safe from any number of processes at once: one does it, the others wait. One statement, so it works over a
 * pooler too. Rejects with what the database says, and with `ConfigError` `invalidOption` for a name that is none.
 *
 * Source: docs/postgres.md
 */
export async function migrate(pool: SqlPool, options: { schema?: string } = {}): Promise<void> {
  checkOptions(pool, aPool, 'pool')
  checkOptions(options, migrateOptions)
  const { schema = 'phi' } = options
  assertSchemaName(schema)
  const steps = versions.map(
    (step, at) => `IF version < ${at + 1} THEN ${step(schema)} INSERT INTO ${schema}.versions VALUES (${at + 1}); END IF;`,
  )
  await pool.query(`DO $phi$
    DECLARE version int;
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtext('phi-core ${schema}'));
      CREATE SCHEMA IF NOT EXISTS ${schema};
      CREATE TABLE IF NOT EXISTS ${schema}.versions (version int PRIMARY KEY);
      SELECT coalesce(max(v.version), 0) INTO version FROM ${schema}.versions v;
      ${steps.join('\n')}
    END $phi$`)
}
