import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import { type AgentConfig, substituteEnv, trustRequests } from '../../../src/config.ts'
import { ConfigError } from '../../../src/index.ts'
import type { McpServerSection } from '../../../src/internal.ts'
import { openScript } from '../script-hooks/script-file.ts'
import { type CodeFiles, noFile } from './code-files.ts'
import {
  absolute,
  type Command,
  codeOfPlugin,
  codeOfScript,
  codeOfServer,
  realPath,
  unknownOfPlugin,
  unknownOfScript,
  unknownOfServer,
} from './commands.ts'
import { pluginModule } from './plugin-modules.ts'

/** An agent file as read, with resolved paths. */
export interface ReadFile {
  path: string
  text: string
  config: AgentConfig
  /** The absolute path. */
  root: string
  env: Readonly<Record<string, string | undefined>>
  /** Resolves a directory named in the file. */
  directoryOf(path: string): string
}

/** The code that an agent file would run, read before the trust prompt. */
export interface CodeSnapshot {
  /** The hexadecimal SHA-256 under which trust is stored, or `undefined` if it cannot be stored. */
  fingerprint: string | undefined
  /** Reasons why trust cannot be stored, one line per script, server or plugin. */
  notRemembered: readonly string[]
  /** Throws `ConfigError` `untrusted` for the first file that changed or is new. */
  check(digests: Iterable<readonly [path: string, digest: string]>): void
}

/**
 * Returns whether scripts may be outside their directory: only if the path in the file shows it, because trust is requested for that path.
 */
export function allowsOutside(scripts: Readonly<Record<string, unknown>>): boolean {
  return Object.values(scripts).some((script) => typeof script === 'string' && /(^|\s)(\/|[a-z]:)|\.\./i.test(script))
}

/** Throws `ConfigError` for an unusable `[callbacks]` script or plugin. Prevents a trust prompt for a file that cannot work. */
export function assertScripts(file: ReadFile): void {
  const filled = filledIn(file.config, file.env)
  for (const plugin of filled.agent?.plugins ?? []) pluginModule(plugin, dirname(file.path))
  const callbacks = filled.callbacks ?? {}
  const places = placesOf(filled).map((path) => realPath(file.directoryOf(path)))
  const allowOutside = allowsOutside(callbacks)
  for (const [name, script] of Object.entries(callbacks)) {
    if (typeof script !== 'string') continue
    const faults = places.flatMap((root) => faultOfScript(script, root, allowOutside) ?? [])
    if (faults.length === places.length) throw new ConfigError('invalidOption', `callbacks.${name}: ${faults[0]}`)
  }
}

function faultOfScript(script: string, root: string, allowOutside: boolean): string | undefined {
  try {
    openScript(script, { root, allowOutside, interpreters: {} })
    return undefined
  } catch (error) {
    if (ConfigError.isInstance(error)) return error.message
    throw error
  }
}

/** Reads the code once. */
export async function takeSnapshot(file: ReadFile): Promise<CodeSnapshot> {
  const all = new Map<string, string>()
  const notRemembered: string[] = []
  const add = ({ digests }: CodeFiles): void => {
    for (const [path, digest] of digests) all.set(path, digest)
  }
  const requests = trustRequests(file.config)
  const note = ({ field, files, unknown }: Program): void => {
    add(files)
    if (unknown !== undefined) notRemembered.push(`${field}: ${unknown}`)
  }
  if (requests.some(({ kind }) => kind === 'script' || kind === 'server')) for await (const program of programsOf(file)) note(program)
  for await (const plugin of pluginsOf(file)) note(plugin)
  const hash = createHash('sha256').update(file.text)
  if (requests.length > 0) hash.update(`\0${realPath(file.root)}`)
  // If everything is known, every loaded file exists. Missing paths may become data.
  for (const [path, digest] of all) if (digest !== noFile) hash.update(`\0${path}\0${digest}`)
  return {
    fingerprint: notRemembered.length === 0 ? hash.digest('hex') : undefined,
    notRemembered: [...new Set(notRemembered)],
    check: (digests) => {
      for (const [path, digest] of digests) if (all.get(path) !== digest) throw changed(path, file.path, digest)
    },
  }
}

function changed(path: string, file: string, digest: string): ConfigError {
  const how = digest === noFile ? 'is gone, or' : 'is new, or'
  return new ConfigError(
    'untrusted',
    `${path} ${how} changed after ${file} was read. phi-core runs no code of this folder. Review the change, then load the agent file again.`,
  )
}

/** A section of the agent file that runs code. */
interface Program {
  field: string
  files: CodeFiles
  unknown: string | undefined
}

/** Yields each plugin. */
async function* pluginsOf(file: ReadFile): AsyncGenerator<Program> {
  const filled = filledIn(file.config, file.env).agent?.plugins
  for (const [at, given] of (file.config.agent?.plugins ?? []).entries()) {
    const files = await codeOfPlugin(absolute(dirname(file.path), filled?.[at] ?? given))
    yield { field: `agent.plugins[${at}]`, files, unknown: unknownOfPlugin(given, files) }
  }
}

/** Yields each script and server for each working directory of the file's agents. */
async function* programsOf(file: ReadFile): AsyncGenerator<Program> {
  const { config, root } = file
  const filled = filledIn(config, file.env)
  const real = realPath(root)
  const written = serversOf(config)
  for (const cwd of placesOf(filled).map(file.directoryOf)) {
    for (const [at, [server]] of serversOf(filled).entries()) {
      const [section, field] = written[at] ?? [server, '']
      const command = commandOf(server, cwd)
      if (command === undefined || server.enabled === false) continue
      const files = await codeOfServer(command)
      const [script] = command.args
      if (script?.endsWith('.js')) await files.addTypeOf(`${cwd}/${script}`)
      yield { field, files, unknown: unknownOfServer({ ...command, ...commandOf(section, cwd) }, files, real) }
    }
    for (const [name, script] of Object.entries(config.callbacks ?? {})) {
      if (typeof script !== 'string') continue
      const files = await codeOfScript(Reflect.get({ ...filled.callbacks }, name) ?? script, cwd)
      yield { field: `callbacks.${name}`, files, unknown: unknownOfScript(script, files) }
    }
  }
}

/** Substitutes variables. If a variable is missing, the text stays unchanged, and no agent is created. */
function filledIn(config: AgentConfig, env: ReadFile['env']): AgentConfig {
  try {
    return substituteEnv(config, env)
  } catch {
    return config
  }
}

type Server = Partial<McpServerSection>

function serversOf({ mcp, tools }: AgentConfig): [Server, field: string][] {
  const ofTools = (tools?.instances ?? []).map(({ config, enabled }, at): [Server, string] => [
    { ...config, ...(enabled !== undefined && { enabled }) },
    `tools.instances[${at}]`,
  ])
  return [...ofTools, ...(mcp?.servers ?? []).map((server, at): [Server, string] => [server, `mcp.servers[${at}]`])]
}

function commandOf({ command, args = [], env = {} }: Server, cwd: string): Command | undefined {
  return command === undefined ? undefined : { command, args, env, cwd }
}

function placesOf({ default_workspace, agent }: AgentConfig): string[] {
  const { profile, instances = [] } = agent ?? {}
  const sections = [agent, profile, ...(profile?.instances ?? []), ...instances, ...instances.map((each) => each.profile)]
  return [...new Set(['.', default_workspace ?? '.', ...sections.map((section) => section?.workspace ?? '.')])]
}
