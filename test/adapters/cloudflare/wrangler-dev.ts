import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** A Worker run by the real `wrangler dev`. */
export interface WranglerDev {
  url: string
  close(): Promise<void>
}

/**
 * Starts `wrangler dev` on a free loopback port with these variables, telling nobody and leaving nothing behind. It runs the entry of
 * wrangler.toml, or `script`.
 */
export async function wranglerDev(vars: Record<string, string> = {}, script?: string): Promise<WranglerDev> {
  const scratch = await mkdtemp(join(tmpdir(), 'phi-wrangler-'))
  // A developer's own .dev.vars may hold a real key; an empty file stands in for it.
  const noVars = join(scratch, 'vars')
  // wrangler.toml serves the built playground, which need not be built here.
  await mkdir('dist-playground', { recursive: true })
  await writeFile(noVars, '')
  const network = ['--ip', '127.0.0.1', '--port', '0', '--inspector-port', '0', '--show-interactive-dev-session=false']
  const flags = [...network, '--persist-to', join(scratch, 'state'), '--env-file', noVars]
  const given = Object.entries(vars).flatMap(([name, value]) => ['--var', `${name}:${value}`])
  const child = spawn(
    process.execPath,
    [resolve('node_modules/wrangler/bin/wrangler.js'), 'dev', ...(script === undefined ? [] : [script]), ...flags, ...given],
    {
      // A group of its own: wrangler starts workerd and esbuild, which must go with it.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        XDG_CONFIG_HOME: scratch,
        WRANGLER_SEND_METRICS: 'false',
        CLOUDFLARE_CF_FETCH_ENABLED: 'false',
        WRANGLER_HIDE_BANNER: 'true',
        WRANGLER_LOG: 'log',
        NO_COLOR: '1',
      },
    },
  )
  // A group of its own outlives a test run that is broken off, unless the run ends it on its way out.
  const end = () => stillRuns(child) && process.kill(-child.pid, 'SIGKILL')
  process.once('exit', end)
  const close = async () => {
    process.off('exit', end)
    await stop(child)
    await rm(scratch, { recursive: true, force: true })
  }
  try {
    return { url: await readyUrl(child), close }
  } catch (error) {
    await close()
    throw error
  }
}

function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((done, fail) => {
    let output = ''
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      const ready = output.match(/Ready on (http:\/\/[\w.:]+)/)
      if (ready?.[1] !== undefined) done(ready[1])
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('error', fail)
    child.once('exit', (code) => fail(new Error(`wrangler dev ended with ${code} before it was ready:\n${output}`)))
  })
}

function stillRuns(child: ChildProcess): child is ChildProcess & { pid: number } {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null
}

function stop(child: ChildProcess): Promise<void> {
  if (!stillRuns(child)) return Promise.resolve()
  const { pid } = child
  return new Promise((done) => {
    const force = setTimeout(() => process.kill(-pid, 'SIGKILL'), 5000)
    child.once('exit', () => {
      clearTimeout(force)
      done()
    })
    // Politely first: wrangler then waits for the processes it started.
    process.kill(-pid, 'SIGTERM')
  })
}
