import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
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

/** Makes an empty database cluster with `initialize`, or copies the one that was made first in this run of tests. */
function makeCluster(programs: string, data: string, initialize: () => void): void {
  const { NODE_COMPILE_CACHE: kept } = process.env // what a run of tests keeps until it ends
  const first = kept === undefined ? undefined : join(kept, `postgres-${basename(dirname(programs))}`)
  const copy = (from: string, to: string) => execFileSync('cp', ['-a', from, to])
  if (first !== undefined && existsSync(first)) {
    copy(first, data)
    return
  }
  initialize()
  if (first === undefined) return
  // Another file of tests may keep one at the same time.
  const unfinished = `${first}.${process.pid}`
  copy(data, unfinished)
  try {
    renameSync(unfinished, first)
  } catch {
    rmSync(unfinished, { recursive: true })
  }
}

/** With `fsync: 'off'` what is acknowledged survives the end of the server, and not that of the machine: what tests look at, whatever else the disk does. */
export async function startPostgres(programs: string, { fsync = 'on' }: { fsync?: 'on' | 'off' } = {}): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), 'phi-pg-'))
  const isRoot = process.getuid?.() === 0
  const as = isRoot ? { uid: nobody, gid: nobody } : {}
  if (isRoot) execFileSync('chown', [`${nobody}:${nobody}`, folder])
  chmodSync(folder, 0o700)
  const data = join(folder, 'data')
  makeCluster(programs, data, () => {
    const options = ['-D', data, '-U', 'phi', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync']
    execFileSync(join(programs, 'initdb'), options, { ...as, stdio: 'ignore', cwd: folder })
  })
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
