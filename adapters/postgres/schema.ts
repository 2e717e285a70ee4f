import { checkOptions } from '../../src/contract/shape/read.ts'
import { aFlag, aText, options as optionsOf, required, withMethods } from '../../src/contract/shape/shape.ts'
import { ConfigError } from '../../src/index.ts'
import { ownerChars } from '../../src/internal.ts'
import { SessionError } from '../../src/session.ts'
import { answeringIn, type PostgresPlace, type SqlPool, unreachable } from './sql-pool.ts'

/** Validator for a pool. */
export const aPool = withMethods(
  'a pool of PostgreSQL connections, such as new Pool({ connectionString: process.env.DATABASE_URL }) of pg',
  'query',
)

/** Options for `migrate`. */
export interface MigrateOptions {
  /** A pool from `pg`, or a client with the same `query` method. */
  pool: SqlPool
  /** Default: `phi`. */
  schema?: string
  /**
   * Enables row-level security. A connection accesses only the rows of the tenant in its `phi.tenant` setting, and no rows without the
   * setting. Row-level security stays enabled once set. Superusers bypass it. Default: `false`.
   */
  rowSecurity?: boolean
}

const migrateOptions = optionsOf<MigrateOptions>({ pool: required(aPool), schema: aText, rowSecurity: aFlag })

/** Names that need no quoting, because they become part of statements. */
const nameForm = /^[a-z_][a-z0-9_]{0,50}$/

/** Throws `ConfigError` `invalidOption` for an invalid schema name. */
function assertSchemaName(schema: string): void {
  if (nameForm.test(schema)) return
  throw new ConfigError(
    'invalidOption',
    `Invalid schema name ${JSON.stringify(schema.slice(0, 100))}. Use at most 51 lowercase letters, digits or "_".`,
  )
}

interface PlaceOptions {
  pool: SqlPool
  schema?: string
  tenant?: string
  statementTimeoutMs?: number
}

/** Returns pool, schema and tenant from options. Throws `ConfigError` `invalidOption`. */
export function placeOf({ pool, schema = 'phi', tenant = '', statementTimeoutMs = 30_000 }: PlaceOptions): PostgresPlace {
  assertSchemaName(schema)
  if (tenant.length > 200) throw new ConfigError('invalidOption', 'tenant has more than 200 characters. Use a shorter name, or its hash.')
  return { pool: answeringIn(statementTimeoutMs, pool), schema, tenant }
}

/** The migrations. Only append to them: databases may have any version. */
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
  (schema) => `
    CREATE TABLE ${schema}.processes (
      tenant text NOT NULL,
      process_id text NOT NULL,
      until bigint NOT NULL,
      PRIMARY KEY (tenant, process_id)
    );
    CREATE TABLE ${schema}.leases (
      tenant text NOT NULL,
      owner text NOT NULL,
      session_id text NOT NULL,
      process_id text NOT NULL,
      PRIMARY KEY (tenant, owner, session_id)
    );
    CREATE INDEX leases_by_process ON ${schema}.leases (tenant, process_id);
    CREATE UNLOGGED TABLE ${schema}.calls (
      tenant text NOT NULL,
      call_id text NOT NULL,
      sender text NOT NULL,
      receiver text NOT NULL,
      request text NOT NULL,
      is_taken boolean NOT NULL DEFAULT false,
      PRIMARY KEY (tenant, call_id)
    );
    CREATE INDEX calls_by_receiver ON ${schema}.calls (tenant, receiver) WHERE NOT is_taken;
    CREATE UNLOGGED TABLE ${schema}.answers (
      tenant text NOT NULL,
      call_id text NOT NULL,
      part int NOT NULL,
      head text,
      bytes bytea NOT NULL,
      ending text,
      PRIMARY KEY (tenant, call_id, part),
      FOREIGN KEY (tenant, call_id) REFERENCES ${schema}.calls ON DELETE CASCADE
    );`,
  (schema) => `
    ALTER TABLE ${schema}.sessions ADD COLUMN status text;
    UPDATE ${schema}.sessions SET status = substring(digest FROM '"status":"([a-z]+)"') WHERE digest IS NOT NULL;
    CREATE INDEX sessions_by_owner ON ${schema}.sessions (tenant, left(session_id, ${ownerChars}), last_active_at DESC, session_id DESC) WHERE is_written;
    CREATE INDEX open_sessions ON ${schema}.sessions (tenant, status, last_active_at DESC, session_id DESC) WHERE is_written AND status <> 'idle';
    CREATE TABLE ${schema}.schedules (
      tenant text NOT NULL,
      owner text NOT NULL,
      session_id text NOT NULL,
      id text NOT NULL,
      at bigint NOT NULL,
      every_ms bigint,
      prompt text NOT NULL,
      PRIMARY KEY (tenant, owner, session_id, id)
    );
    CREATE INDEX schedules_by_time ON ${schema}.schedules (tenant, at);`,
  (schema) => `ALTER TABLE ${schema}.processes ADD COLUMN url text;`,
]

/** All tables whose rows belong to tenants. */
const tables = ['sessions', 'records', 'blobs', 'processes', 'leases', 'calls', 'answers', 'schedules']

function rowSecurityOf(schema: string): string {
  const statements = tables.map(
    (table) => `
      ALTER TABLE ${schema}.${table} ENABLE ROW LEVEL SECURITY;
      ALTER TABLE ${schema}.${table} FORCE ROW LEVEL SECURITY;
      DROP POLICY IF EXISTS one_tenant ON ${schema}.${table};
      CREATE POLICY one_tenant ON ${schema}.${table} USING (tenant = current_setting('phi.tenant', true));`,
  )
  return statements.join('')
}

/**
 * Creates the tables, or migrates them. Any number of processes may call it at the same time. One migrates, and the others wait. It is a
 * single statement, so it also works through a pooler.
 *
 * **Contract**
 * - Rejects with the database's error, with `SessionError` `io` if it is unreachable, and with `ConfigError` `invalidOption`
 *   for an invalid name.
 *
 * Source: docs/guides/choose-a-store.md
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  checkOptions(options, migrateOptions)
  const { pool, schema = 'phi', rowSecurity = false } = options
  assertSchemaName(schema)
  const steps = versions.map(
    (step, at) => `IF version < ${at + 1} THEN ${step(schema)} INSERT INTO ${schema}.versions VALUES (${at + 1}); END IF;`,
  )
  const statement = `DO $phi$
    DECLARE version int;
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtext('phi-core ${schema}'));
      CREATE SCHEMA IF NOT EXISTS ${schema};
      CREATE TABLE IF NOT EXISTS ${schema}.versions (version int PRIMARY KEY);
      SELECT coalesce(max(v.version), 0) INTO version FROM ${schema}.versions v;
      ${steps.join('\n')}
      ${rowSecurity ? rowSecurityOf(schema) : ''}
    END $phi$`
  await pool.query(statement).catch((error: unknown) => {
    const why = unreachable(error)
    throw why === undefined ? error : new SessionError('io', `Cannot create the tables: ${why}`, { cause: error })
  })
}
