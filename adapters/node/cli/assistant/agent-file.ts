import { type AgentConfig, agentFromConfig, type ConfigHost, trustRequests } from '../../../../src/config.ts'
import { type Agent, ConfigError, type Logger, type SessionStore } from '../../../../src/index.ts'
import { loadConfigFile } from '../../config/index.ts'
import type { EditedFiles } from '../changes/edited-files.ts'
import { askTrust } from '../trust/ask-trust.ts'
import { trustedFiles } from './kept-files.ts'
import type { Project } from './project.ts'

/** What an agent file is opened with. */
export interface AgentFileOptions {
  project: Project
  store: SessionStore
  hasSandbox: boolean
  /** Whether the command line says that the file is trusted. */
  isTrusted: boolean
  /** Watches the tools that change files. */
  files: EditedFiles
  logger: Logger
}

/** An agent from its file, and what the person should know about the file. */
export interface FromFile {
  agent: Agent
  notes: string[]
  /** What the file was, and all that it runs; undefined where nobody can know. */
  fingerprint: string | undefined
  /** The servers that the file names. */
  servers: string[]
}

/**
 * The agent of `--config`. What only a trusted file may do is asked for: once, where all that it would run is known, else each time. Its conversations are
 * kept, unless the file says `ephemeral`. Throws `ConfigError` for what the file says wrong, or may not do.
 */
export async function agentFromFile(
  path: string,
  { project, store, hasSandbox, isTrusted, files, logger }: AgentFileOptions,
): Promise<FromFile> {
  const { root, home } = project
  const loaded = await loadConfigFile(path, {
    root,
    sessions: store,
    logger,
    onElicit: 'event',
    nodeTools: hasSandbox ? {} : { bash: { sandbox: 'none' } },
  })
  const requests = trustRequests(loaded.config)
  const trusted = trustedFiles(home)
  const fingerprint = await loaded.fingerprint()
  const isRemembered = fingerprint !== undefined && trusted.has(loaded.path, fingerprint)
  let trust = isTrusted || requests.length === 0 || isRemembered
  if (!trust) {
    loaded.checkScripts()
    trust = await askTrust(loaded.path, requests, loaded.notRemembered)
    if (trust && fingerprint !== undefined) trusted.add(loaded.path, fingerprint)
  }
  const notes = loaded.warnings.map(({ message }) => `${path}: ${message}`)
  const host = { ...loaded.host, trust, tools: watchedTools(loaded.host, files) }
  const agent = await agentFromConfig(loaded.config, host).catch((error: unknown) => {
    if (!ConfigError.isInstance(error)) throw error
    // A key that nobody reads may be why another one is missing.
    const others = error.code === 'untrusted' ? 'Open it once in a terminal to be asked, or say --trust.' : notes.join(' ')
    throw others === '' ? error : new ConfigError(error.code, `${error.message} ${others}`, { cause: error })
  })
  const { scope } = loaded.config.session ?? {}
  if (scope === undefined && agent.settings.session === undefined) agent.configure({ session: store })
  const servers = [...(loaded.config.tools?.instances ?? []), ...(loaded.config.mcp?.servers ?? [])]
  return {
    agent,
    fingerprint,
    notes: [...notes, ...othersIn(path, loaded.config.agent)],
    servers: servers.flatMap(({ name, enabled }) => (enabled === false ? [] : [name])),
  }
}

/** The tools that a file may name, as its host gives them, those that change files watched. */
function watchedTools({ tools = [], workspace }: ConfigHost, files: EditedFiles): NonNullable<ConfigHost['tools']> {
  return async (place) => {
    const given = typeof tools === 'function' ? await tools(place) : tools
    const where = typeof workspace === 'function' ? await workspace(place.path) : workspace
    return where === undefined ? given : files.watched(given, where)
  }
}

/** One agent is talked to; that there are others is no reason to leave them out in silence. */
function othersIn(path: string, agent: AgentConfig['agent']): string[] {
  const names = (agent?.instances ?? []).map(({ name = 'unnamed' }) => name)
  if (names.length === 0) return []
  return [`${path}: phi opens [agent] alone. Not opened: ${names.join(', ')} ([[agent.instances]]).`]
}
