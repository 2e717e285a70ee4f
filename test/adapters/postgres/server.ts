import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'pg'

const installed = '/usr/lib/postgresql'

/** Where the programs of a PostgreSQL are on this machine; undefined where there is none. */
export function postgresPrograms(): string | undefined {
  const versions = existsSync(installed) ? readdirSync(installed) : []
  return versions.map((version) => join(installed, version, 'bin')).findLast((folder) => existsSync(join(folder, 'initdb')))
}

/** A database of its own, on a socket in a folder of its own. */
export interface Database {
  pool: Pool
  /** Where its socket is. */
  folder: string
  /** For other processes. */
  url: string
  /** Ends it at once, as a power cut would, and starts it again. */
  crash(): Promise<void>
  stop(): Promise<void>
}

/** Nobody: a server refuses to run as root. */
const nobody = 65534

/** With `fsync: 'off'` what is acknowledged survives the end of the server, and not that of the machine: what tests look at, whatever else the disk does. */
export async function startPostgres(programs: string, { fsync = 'on' }: { fsync?: 'on' | 'off' } = {}): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), 'phi-pg-'))
  const isRoot = process.getuid?.() === 0
  const as = isRoot ? { uid: nobody, gid: nobody } : {}
  if (isRoot) execFileSync('chown', [`${nobody}:${nobody}`, folder])
  chmodSync(folder, 0o700)
  const data = join(folder, 'data')
  const options = ['-D', data, '-U', 'phi', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync']
  execFileSync(join(programs, 'initdb'), options, { ...as, stdio: 'ignore', cwd: folder })
  const start = async () => {
    const started = spawn(
      join(programs, 'postgres'),
      ['-D', data, '-k', folder, '-c', 'listen_addresses=', '-c', 'max_connections=300', '-c', `fsync=${fsync}`],
      {
        ...as,
        stdio: 'ignore',
        cwd: folder,
      },
    )
    const pool = new Pool({ host: folder, user: 'phi', database: 'postgres', max: 8 })
    // A connection that rests and is lost: the next query opens another.
    pool.on('error', () => undefined)
    const isUp = () =>
      pool.query('SELECT 1').then(
        () => true,
        () => false,
      )
    // It needs the processor more than whoever asks.
    while (!(await isUp())) await new Promise((resolve) => setTimeout(resolve, 10))
    return { started, pool }
  }
  let { started, pool } = await start()
  const end = async (signal: NodeJS.Signals) => {
    const ended = once(started, 'exit')
    started.kill(signal)
    await ended
  }
  return {
    get pool() {
      return pool
    },
    folder,
    url: `postgres://phi@/postgres?host=${encodeURIComponent(folder)}`,
    crash: async () => {
      await end('SIGQUIT')
      await pool.end().catch(() => undefined)
      ;({ started, pool } = await start())
    },
    stop: async () => {
      await pool.end().catch(() => undefined)
      await end('SIGQUIT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
