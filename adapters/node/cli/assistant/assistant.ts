import { resolve } from 'node:path'
import { thinkingLevel } from '../../../../src/contract/model/request-settings.ts'
import {
  Agent,
  ConfigError,
  type Logger,
  memorySessionStore,
  resumeAgent,
  type SessionStore,
  type ThinkingLevel,
} from '../../../../src/index.ts'
import { type McpMentions, mcpMentions } from '../../../../src/mcp/mentions/mentions.ts'
import type { Workspace } from '../../../../src/tools.ts'
import { modelFromEnv } from '../../../env/index.ts'
import { fileSessionStore, nodeWorkspace } from '../../index.ts'
import { isWithin } from '../../policy/programs.ts'
import type { CliArguments } from '../args.ts'
import { EditedFiles } from '../changes/edited-files.ts'
import { FileSnapshots } from '../changes/file-snapshots.ts'
import { demoModel } from '../demo/demo-model.ts'
import { demoProject } from '../demo/demo-project.ts'
import { missingPackage } from '../endings.ts'
import { type PermissionMode, Permissions } from '../permissions/permissions.ts'
import { KeptRules } from './kept-files.ts'
import { type ListedSession, latestSessions } from './latest-sessions.ts'
import { OpenSessions } from './open-sessions.ts'
import { localTools, type Project, projectAt } from './project.ts'
import { contextOf } from './run-context.ts'
import { withUserSkills } from './user-skills.ts'

/** A local HTTP server for the agent, with the web app. */
export interface ServedAgent {
  /** Returns the web app's URL with its token, optionally for a session. */
  link(sessionId?: string): string
  /**
   * Returns the web app's agent for a session, which terminal and web app then share. A previously shared session stays with the web app.
   */
  open(sessionId: string): Promise<Agent>
  /** Makes the web app use the terminal's agent. */
  share(agent: Agent): Promise<void>
  close(): Promise<void>
}

/** The agent for a command line, with its sessions, permissions and files. */
export interface Assistant {
  readonly agent: Agent
  readonly store: SessionStore
  /** The session directory, or `undefined` if sessions are in memory. */
  readonly sessions: string | undefined
  readonly root: string
  /** Notes for the user. */
  readonly notes: readonly string[]
  /** The prompts and resources of the agent's MCP servers. */
  readonly servers: McpMentions
  readonly permissions: Permissions
  readonly files: EditedFiles
  readonly snapshots: FileSnapshots
  /** The project storage, or `undefined` if nothing is stored. */
  readonly project: Project | undefined
  /** The local web server, once `/open` has started it. Closed with the assistant. */
  served: ServedAgent | undefined
  /** Ids of other processes that had the session open. */
  readonly others: readonly number[]
  /** Runs when `agent` is replaced. */
  onAgent: (() => void) | undefined
  /** Replaces `agent` with the web app's agent, if it belongs to the same session. */
  goOnWith(agent: Agent): void
  /** Resumes another session and replaces `agent`. Resolves with notes for the user. */
  reopen(sessionId: string): Promise<string[]>
  /** Starts a new session. The previous session stays stored. */
  renew(): Promise<void>
  /** Releases all resources. Resolves when all messages are stored. */
  close(): Promise<void>
}

const systemPrompt = (root: string): string => `You are phi, an assistant for work on source code, in a terminal.
Your tools work in the directory ${JSON.stringify(root)}; paths are relative to it. Look before you change something, change little, and check what you did.
Claim only what you have seen. Answer briefly, in markdown.`

/** The first agent of an assistant, with its storage. */
interface Beginning
  extends Pick<
    Assistant,
    'agent' | 'root' | 'store' | 'sessions' | 'notes' | 'servers' | 'permissions' | 'files' | 'snapshots' | 'project'
  > {
  /** Absent if sessions are in memory, which no other process can open. */
  open?: OpenSessions
  remove?: () => void
}

/** The environment that opens an assistant. */
export interface Surroundings {
  isLive: boolean
  /** Working directory for tools. Default: this process's working directory. */
  directory?: string
  /** Wraps the tools' workspace. See `EditedFiles`. */
  through?: (workspace: Workspace) => Workspace
  /** Lets the user choose a session. Default: the last session. */
  choose?: (sessions: readonly ListedSession[]) => Promise<ListedSession>
  logger: Logger
}

/** Creates the assistant. Throws `ConfigError` for an unusable command line, or `SessionError` for an unreadable session. */
export async function openAssistant(args: CliArguments, surroundings: Surroundings): Promise<Assistant> {
  const beginning = args.demo === true ? demo(args, surroundings) : await own(args, surroundings)
  const assistant = new OpenAssistant(beginning)
  try {
    if (isLevel(args.thinking)) assistant.agent.configure({ thinking: args.thinking })
    if (args.context !== undefined) assistant.agent.configure({ context: contextOf(args.context, assistant.agent.settings.context) })
    if (args.resume !== undefined)
      assistant.notes.push(...(await assistant.reopen(await chosen(args.resume, beginning, surroundings.choose))))
    else await assistant.enter()
    return assistant
  } catch (error) {
    await assistant.close()
    throw error
  }
}

class OpenAssistant implements Assistant {
  agent: Agent
  readonly store: SessionStore
  readonly sessions: string | undefined
  readonly root: string
  readonly notes: string[]
  readonly servers: McpMentions
  readonly permissions: Permissions
  readonly files: EditedFiles
  readonly snapshots: FileSnapshots
  readonly project: Project | undefined
  served: ServedAgent | undefined
  others: readonly number[] = []
  onAgent: (() => void) | undefined
  readonly #open: OpenSessions | undefined
  readonly #remove: (() => void) | undefined
  readonly #opened: Set<Agent>

  constructor({ agent, store, sessions, root, notes, servers, permissions, files, snapshots, project, open, remove }: Beginning) {
    this.agent = agent
    this.store = store
    this.sessions = sessions
    this.root = root
    this.notes = [...notes]
    this.servers = servers
    this.permissions = permissions
    this.files = files
    this.snapshots = snapshots
    this.project = project
    this.#open = open
    this.#remove = remove
    this.#opened = new Set([agent])
  }

  async reopen(sessionId: string): Promise<string[]> {
    const { session: _same, journal: _none, ...settings } = this.agent.settings
    this.#become(await (this.served?.open(sessionId) ?? resumeAgent(this.store, sessionId, settings)))
    return this.enter()
  }

  async renew(): Promise<void> {
    // The web app may still use the previous agent.
    const next = this.agent.with({ messages: [] })
    await this.served?.share(next)
    this.#become(next)
    await this.enter()
  }

  goOnWith(agent: Agent): void {
    if (agent.sessionId === this.agent.sessionId) this.#become(agent)
  }

  #become(agent: Agent): void {
    if (agent === this.agent) return
    this.agent = agent
    this.#opened.add(agent)
    this.onAgent?.()
  }

  /** Marks the session as open here. Returns a note if other processes have it open. */
  async enter(): Promise<string[]> {
    const { sessionId } = this.agent
    // Session rules end with the session.
    this.permissions.forget()
    await this.snapshots.enter(sessionId, () => this.agent.messages.length)
    const others = this.#open?.enter(sessionId) ?? []
    this.others = others
    if (others.length === 0) return []
    const which = others.length === 1 ? `another phi, process ${others[0]}` : `other phis, processes ${others.join(', ')}`
    return [`This session is open in ${which}. Your first message takes it over; the other process can then no longer continue it.`]
  }

  async close(): Promise<void> {
    try {
      for (const agent of this.#opened) agent.abort()
      await this.served?.close()
      await Promise.all(Array.from(this.#opened, (agent) => agent.close()))
    } finally {
      this.#open?.leave()
      this.#remove?.()
    }
  }
}

/** Opens the demo. It runs only its own command in its own directory, so it works without a sandbox. */
function demo(args: CliArguments, { isLive, logger }: Surroundings): Beginning {
  const { root, changes, remove } = demoProject()
  const confined = localTools(root, args.sandbox !== false)
  const hasBash = confined.tools.some(({ name }) => name === 'bash')
  const { tools, notes } = hasBash ? confined : localTools(root, false)
  const store = memorySessionStore()
  const snapshots = new FileSnapshots(changes)
  const files = new EditedFiles(snapshots)
  const watched = files.watched(tools, nodeWorkspace(root))
  const agent = new Agent({ model: demoModel(isLive ? 12 : 0), tools: watched, systemPrompt: systemPrompt(root), session: store, logger })
  const permissions = new Permissions(modeOf(args), undefined)
  return {
    agent,
    root,
    store,
    sessions: undefined,
    notes,
    servers: mcpMentions([]),
    permissions,
    files,
    snapshots,
    project: undefined,
    remove,
  }
}

/** Opens the assistant for this directory or for an agent file. `--model` applies to both. */
async function own(args: CliArguments, { directory = process.cwd(), through, logger }: Surroundings): Promise<Beginning> {
  const { config, model, sandbox, trust } = args
  const project = projectAt(directory)
  const { root, sessions } = project
  const store = fileSessionStore(sessions)
  const snapshots = new FileSnapshots(project.changes)
  const files = new EditedFiles(snapshots, through)
  const place = { root, store, sessions, project, files, snapshots, open: new OpenSessions(project.open) }
  const permissionsOf = (speaker: string | undefined) => new Permissions(modeOf(args), keptRules(project, speaker))
  if (config === undefined) {
    const chosenModel = await modelFromEnv(model).catch(orWithout)
    const local = localTools(root, sandbox !== false)
    const { tools, skills, notes } = await withUserSkills(project, local.tools)
    const watched = tools.length === 0 ? tools : files.watched(tools, nodeWorkspace(root))
    const settings = { model: chosenModel, tools: watched, systemPrompt: systemPrompt(root), session: store, logger }
    const agent = new Agent({ ...settings, ...(skills !== undefined && { skills }) })
    return { ...place, agent, notes: [...local.notes, ...notes], servers: mcpMentions([]), permissions: permissionsOf('phi') }
  }
  const { agentFromFile } = await import('./agent-file.ts').catch(missingPart)
  const options = { project, store, hasSandbox: sandbox !== false, isTrusted: trust === true, files, logger }
  const { agent, notes, servers, fingerprint } = await agentFromFile(config, options)
  if (model !== undefined) agent.configure({ model: await modelFromEnv(model) })
  return { ...place, agent, notes, servers: mcpMentions(servers), permissions: permissionsOf(fingerprint) }
}

/** `--yes` means `--mode all`. */
function modeOf({ mode, yes }: CliArguments): PermissionMode {
  return mode ?? (yes === true ? 'all' : 'ask')
}

/** Returns stored rules, or `undefined` if the agent file's code is not fully known, or if tools could write the rules. */
function keptRules({ root, home, permissions }: Project, speaker: string | undefined): KeptRules | undefined {
  return speaker === undefined || isWithin(root, resolve(home)) ? undefined : new KeptRules(permissions, speaker)
}

/** zod is an optional peer dependency that only agent files need. */
function missingPart(error: unknown): never {
  if (!(error instanceof Error) || !/package 'zod'/.test(error.message)) throw error
  throw missingPackage('phi --config FILE', ['zod'], error)
}

/** Adds advice for the command line to a missing-key error. */
function orWithout(error: unknown): never {
  if (!ConfigError.isInstance(error) || error.code !== 'missingEnvVar') throw error
  throw new ConfigError('missingEnvVar', `${error.message} Choose another model with --model, or try phi --demo without a key.`)
}

/** Resolves `--resume`: a session by id, by the user's choice, or the last one. */
async function chosen(wanted: string | true, { store, project }: Beginning, choose: Surroundings['choose']): Promise<string> {
  if (typeof wanted === 'string') return wanted
  const found = (await latestSessions(store, project)).filter(({ summary }) => summary.error === undefined)
  const [last] = found.toSorted((a, b) => b.summary.lastActiveAt - a.summary.lastActiveAt)
  if (last === undefined) throw new ConfigError('invalidOption', 'This directory has no session to resume. Start one with phi.')
  const { summary } = choose === undefined || found.length === 1 ? last : await choose(found)
  return summary.sessionId
}

/** All thinking levels. */
export const levels: readonly ThinkingLevel[] = thinkingLevel.words

/** Returns whether `word` is a thinking level. */
export function isLevel(word: string | undefined): word is ThinkingLevel {
  return levels.some((level) => level === word)
}
