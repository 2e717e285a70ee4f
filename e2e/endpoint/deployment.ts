import { type ChildProcess, spawn } from 'node:child_process'
import { freePort } from '../../scripts/browsers/free-port.ts'

export interface RunningWorker {
  url: string
  close(): Promise<void>
}

/** `wrangler dev` of this repository's wrangler.toml: the Worker and the built page, as they are deployed. Its data is kept in `state`. */
export async function startDeployment(state: string): Promise<RunningWorker> {
  const port = await freePort()
  const offline = {
    WRANGLER_SEND_METRICS: 'false',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    WRANGLER_HIDE_BANNER: 'true',
    WRANGLER_LOG: 'log',
    XDG_CONFIG_HOME: state,
  }
  const flags = ['dev', '--port', String(port), '--ip', '127.0.0.1', '--persist-to', state, '--inspector-port', String(await freePort())]
  const child = spawn('node_modules/.bin/wrangler', flags, {
    cwd: new URL('../..', import.meta.url),
    env: { ...process.env, ...offline },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  await isReady(child)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const close = () => {
    child.kill('SIGTERM')
    return ended
  }
  return { url: `http://127.0.0.1:${port}/`, close }
}

function isReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = ''
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      if (output.includes('Ready on')) resolve()
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`wrangler dev ended with ${code}:\n${output.slice(-2000)}`)))
  })
}
