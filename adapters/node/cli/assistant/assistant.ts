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
import { withUserSkills } from './user-skills.ts'

/** An agent behind HTTP on this machine, with a page. */
export interface ServedAgent {
  /** The address of the page, with the token; of a session where one is named. */
  link(sessionId?: string): string
  /** The agent with which the page goes on with a session: from now on both use it. What was shared before is the page's alone. */
  open(sessionId: string): Promise<Agent>
  /** The page goes on with this agent, which is the terminal's. */
  share(agent: Agent): Promise<void>
  close(): Promise<void>
}

/** The agent of a command line, and what it lives in. */
export interface Assistant {
  readonly agent: Agent
  readonly store: SessionStore
  /** Where sessions are kept; undefined where they are gone with the process. */
  readonly sessions: string | undefined
  readonly root: string
  /** What the person should know, as sentences. */
  readonly notes: readonly string[]
  /** MCP servers whose tools the agent has, by their names. */
  readonly servers: readonly string[]
  readonly permissions: Permissions
  readonly files: EditedFiles
  readonly snapshots: FileSnapshots
  /** Where this place keeps more than sessions; undefined where nothing is kept. */
  readonly project: Project | undefined
  /** Where a page goes on with sessions of this assistant, once somebody has asked for it. Closed with the assistant. */
  served: ServedAgent | undefined
  /** Other processes that had the session open when it was opened here. */
  readonly others: readonly number[]
  /** Called when `agent` has become another one. */
  onAgent: (() => void) | undefined
  /** The session goes on with this agent, which the page has made of it; one of another session is left alone. */
  goOnWith(agent: Agent): void
  /** Goes on with another session of the store: `agent` is another one then. Resolves with what the person should know about it. */
  reopen(sessionId: string): Promise<string[]>
  /** Begins a new session; the one before is kept. */
  renew(): Promise<void>
  /** Gives back everything; what was said is stored then. */
  close(): Promise<void>
}

const systemPrompt = (root: string): string => `You are phi, an assistant for work on source code, in a terminal.
Your tools work in the directory ${JSON.stringify(root)}; paths are relative to it. Look before you change something, change little, and check what you did.
Claim only what you have seen. Answer briefly, in markdown.`

/** An agent and the place it lives in. */
interface Beginning
  extends Pick<
    Assistant,
    'agent' | 'root' | 'store' | 'sessions' | 'notes' | 'servers' | 'permissions' | 'files' | 'snapshots' | 'project'
  > {
  /** Absent where sessions are in memory: nobody else can open them. */
  open?: OpenSessions
  remove?: () => void
}

/** The terminal that an assistant is opened for. */
export interface Surroundings {
  isLive: boolean
  /** Where tools work. Default: the directory of this process. */
  directory?: string
  /** What tools read and write files through; see `EditedFiles`. */
  through?: (workspace: Workspace) => Workspace
  /** Asks which session is meant, where several may be. Absent: the last one is. */
  choose?: (sessions: readonly ListedSession[]) => Promise<ListedSession>
  logger: Logger
}

/** Makes the agent. Throws `ConfigError` where the command line cannot be followed, `SessionError` for a session that cannot be read. */
export async function openAssistant(args: CliArguments, surroundings: Surroundings): Promise<Assistant> {
  const beginning = args.demo === true ? demo(args, surroundings) : await own(args, surroundings)
  const assistant = new OpenAssistant(beginning)
  try {
    if (isLevel(args.thinking)) assistant.agent.configure({ thinking: args.thinking })
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
  readonly servers: readonly string[]
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
    // A page may go on with the one before.
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

  /** Says that the session is open here; gives what the person should know about others who have it open. */
  async enter(): Promise<string[]> {
    const { sessionId } = this.agent
    // What was allowed for a session ends with it.
    this.permissions.forget()
    await this.snapshots.enter(sessionId, () => this.agent.messages.length)
    const others = this.#open?.enter(sessionId) ?? []
    this.others = others
    if (others.length === 0) return []
    const which = others.length === 1 ? `another phi, process ${others[0]}` : `other phis, processes ${others.join(', ')}`
    return [`This session is open in ${which}. With the first thing you say it is yours; there, nothing more can be said in it.`]
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

/** The demo runs one command, its own and in its own directory; so it may do without a sandbox, where there is none. */
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
  return { agent, root, store, sessions: undefined, notes, servers: [], permissions, files, snapshots, project: undefined, remove }
}

/** The assistant of this directory, or that of an agent file; the model of the command line is taken in either case. */
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
    return { ...place, agent, notes: [...local.notes, ...notes], servers: [], permissions: permissionsOf('phi') }
  }
  const { agentFromFile } = await import('./agent-file.ts').catch(missingPart)
  const options = { project, store, hasSandbox: sandbox !== false, isTrusted: trust === true, files, logger }
  const { agent, notes, servers, fingerprint } = await agentFromFile(config, options)
  if (model !== undefined) agent.configure({ model: await modelFromEnv(model) })
  return { ...place, agent, notes, servers, permissions: permissionsOf(fingerprint) }
}

/** `--yes` is `--mode all`. */
function modeOf({ mode, yes }: CliArguments): PermissionMode {
  return mode ?? (yes === true ? 'all' : 'ask')
}

/** Where all that an agent file runs is not known, and where tools could write the list, nothing is allowed beyond the session. */
function keptRules({ root, home, permissions }: Project, speaker: string | undefined): KeptRules | undefined {
  return speaker === undefined || isWithin(root, resolve(home)) ? undefined : new KeptRules(permissions, speaker)
}

/** zod is for who uses agent files, so the package does not bring it. */
function missingPart(error: unknown): never {
  if (!(error instanceof Error) || !/package 'zod'/.test(error.message)) throw error
  throw missingPackage('phi --config FILE', ['zod'], error)
}

/** The advice of the environment, and what this command can do besides. */
function orWithout(error: unknown): never {
  if (!ConfigError.isInstance(error) || error.code !== 'missingEnvVar') throw error
  throw new ConfigError('missingEnvVar', `${error.message} --model names another one, and phi --demo needs no key.`)
}

/** The session that is meant: one by its id, the one that somebody chooses, or the last one. */
async function chosen(wanted: string | true, { store, project }: Beginning, choose: Surroundings['choose']): Promise<string> {
  if (typeof wanted === 'string') return wanted
  const found = (await latestSessions(store, project)).filter(({ summary }) => summary.error === undefined)
  const [last] = found.toSorted((a, b) => b.summary.lastActiveAt - a.summary.lastActiveAt)
  if (last === undefined) throw new ConfigError('invalidOption', 'There is no session of this directory to go on with. Begin one with phi.')
  const { summary } = choose === undefined || found.length === 1 ? last : await choose(found)
  return summary.sessionId
}

/** How deep a model can be told to think. */
export const levels: readonly ThinkingLevel[] = thinkingLevel.words

/** Whether `word` says how deep to think. */
export function isLevel(word: string | undefined): word is ThinkingLevel {
  return levels.some((level) => level === word)
}
