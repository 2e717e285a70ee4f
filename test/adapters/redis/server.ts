import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The program of Redis; undefined where this machine has none. */
export function redisProgram(): string | undefined {
  return ['/usr/bin/redis-server', '/usr/local/bin/redis-server'].find((path) => existsSync(path))
}

/** A server of its own, on a socket in a folder of its own. */
export interface RedisServer {
  /** Path of its socket. */
  socket: string
  /** Kills it and starts it again with what its disk has. */
  crash(): Promise<void>
  /** Stops it as if it were stalled, until `proceed`. */
  stall(): void
  proceed(): void
  stop(): Promise<void>
}

/** Name of the socket in the folder of a server. */
export const socketName = 'redis.sock'

/** Settings with which an acknowledged write is on the disk. */
const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '']

/** Starts a server in `folder`, which its end removes. `settings` are those of its command line. */
export async function startRedis(
  program: string,
  folder = mkdtempSync(join(tmpdir(), 'phi-redis-')),
  settings = durable,
): Promise<RedisServer> {
  const socket = join(folder, socketName)
  const start = async (): Promise<ChildProcess> => {
    const started = spawn(program, ['--port', '0', '--unixsocket', socket, '--dir', folder, '--loglevel', 'warning', ...settings], {
      stdio: 'ignore',
    })
    while (!(await isUp(socket))) await new Promise((resolve) => setTimeout(resolve, 10))
    return started
  }
  let started = await start()
  const kill = async () => {
    const ended = once(started, 'exit')
    started.kill('SIGKILL')
    await ended
  }
  return {
    socket,
    crash: async () => {
      await kill()
      started = await start()
    },
    stall: () => void started.kill('SIGSTOP'),
    proceed: () => void started.kill('SIGCONT'),
    stop: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Whether a server responds there and has loaded its data. */
async function isUp(socket: string): Promise<boolean> {
  const connection = createConnection(socket)
  try {
    await once(connection, 'connect')
    connection.write('PING\r\n')
    const [reply] = await once(connection, 'data')
    return String(reply).startsWith('+PONG')
  } catch {
    return false
  } finally {
    connection.destroy()
  }
}
