import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

const repository = fileURLToPath(new URL('../..', import.meta.url))

/** A Vite dev server, started as a person starts it. */
export interface DevServer extends AsyncDisposable {
  /** Ends with a slash. */
  url: string
}

/**
 * Starts a command line of this repository that runs a Vite dev server, such as `npm run playground --`, on a free port.
 *
 * - Resolves when the server listens.
 * - Rejects with the output of the command if it exits before.
 * - Disposing ends the command and its children.
 */
export async function startDevServer(command: string, ...flags: string[]): Promise<DevServer> {
  // A group of its own, because npm starts a shell, and the shell starts Vite.
  const child = spawn(command, [...flags, '--port', '0'], { cwd: repository, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  const kill = () => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGTERM')
  }
  process.once('exit', kill)
  const url = await new Promise<string>((resolve, reject) => {
    let output = ''
    const read = (chunk: Buffer) => {
      output = stripVTControlCharacters(output + chunk.toString())
      const found = /Local:\s+(http:\S+)/.exec(output)?.[1]
      if (found !== undefined) resolve(found)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${[command, ...flags].join(' ')} exited with ${code} before it listened:\n${output}`)))
  })
  const close = async () => {
    kill()
    await exited
    process.off('exit', kill)
  }
  return { url, [Symbol.asyncDispose]: close }
}
