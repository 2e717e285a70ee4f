import { type AgentConfig, agentFromConfig, type ConfigHost, trustRequests } from '../../../../src/config.ts'
import { type Agent, ConfigError, type Logger, type SessionStore } from '../../../../src/index.ts'
import type { McpToolSet } from '../../../mcp/index.ts'
import { loadConfigFile } from '../../config/index.ts'
import type { EditedFiles } from '../changes/edited-files.ts'
import { askTrust } from '../trust/ask-trust.ts'
import { trustedFiles } from './kept-files.ts'
import type { Project } from './project.ts'

/** Options for opening an agent file. */
export interface AgentFileOptions {
  project: Project
  store: SessionStore
  hasSandbox: boolean
  /** Whether `--trust` was passed. */
  isTrusted: boolean
  /** Tracks the file changes that tools make. */
  files: EditedFiles
  logger: Logger
}

/** An agent from a file, with notes for the user. */
export interface FromFile {
  agent: Agent
  notes: string[]
  /** Hash of the file and all code that it runs, or `undefined` if the code is not fully known. */
  fingerprint: string | undefined
  /** Tools, resources and prompts from the MCP servers in the file. */
  servers: McpToolSet[]
}

/**
 * Creates the agent for `--config`. Prompts the user to trust the file: once if all code that it runs is known, otherwise each time. Stores
 * its sessions unless the file sets `ephemeral`. Throws `ConfigError` for an invalid file, or if trust is denied.
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
  const servers: McpToolSet[] = []
  const host = { ...loaded.host, ...rememberingSets(loaded.host, servers), trust, tools: watchedTools(loaded.host, files) }
  const agent = await agentFromConfig(loaded.config, host).catch((error: unknown) => {
    if (!ConfigError.isInstance(error)) throw error
    // An unknown key may explain a missing key.
    const others = error.code === 'untrusted' ? 'Open it once in a terminal to confirm, or pass --trust.' : notes.join(' ')
    throw others === '' ? error : new ConfigError(error.code, `${error.message} ${others}`, { cause: error })
  })
  const { scope } = loaded.config.session ?? {}
  if (scope === undefined && agent.settings.session === undefined) agent.configure({ session: store })
  return {
    agent,
    fingerprint,
    notes: [...notes, ...othersIn(path, loaded.config.agent)],
    servers,
  }
}

/** Adds every connected set of MCP tools to `sets`. */
function rememberingSets({ connectMcp }: ConfigHost, sets: McpToolSet[]): Pick<ConfigHost, 'connectMcp'> {
  if (connectMcp === undefined) return {}
  return {
    connectMcp: async (server) => {
      const set = await connectMcp(server)
      sets.push(set)
      return set
    },
  }
}

/** Returns the host's tools, with file changes tracked. */
function watchedTools({ tools = [], workspace }: ConfigHost, files: EditedFiles): NonNullable<ConfigHost['tools']> {
  return async (place) => {
    const given = typeof tools === 'function' ? await tools(place) : tools
    const where = typeof workspace === 'function' ? await workspace(place.path) : workspace
    return where === undefined ? given : files.watched(given, where)
  }
}

/** Returns a note about agents in the file that phi ignores. */
function othersIn(path: string, agent: AgentConfig['agent']): string[] {
  const names = (agent?.instances ?? []).map(({ name = 'unnamed' }) => name)
  if (names.length === 0) return []
  return [`${path}: phi opens only [agent]. Not opened: ${names.join(', ')} ([[agent.instances]]).`]
}
