import {
  Agent,
  ConfigError,
  type Logger,
  memorySessionStore,
  resumeAgent,
  type SessionStore,
  type ThinkingLevel,
} from '../../../../src/index.ts'
import { thinkingLevel } from '../../../../src/internal.ts'
import { modelFromEnv } from '../../../env/index.ts'
import { fileSessionStore } from '../../index.ts'
import type { CliArguments } from '../args.ts'
import { demoModel } from '../demo/demo-model.ts'
import { demoProject } from '../demo/demo-project.ts'
import { localTools } from './local-tools.ts'
import { OpenSessions } from './open-sessions.ts'
import { projectAt } from './project.ts'
import { withUserSkills } from './user-skills.ts'

/** The agent of a command line, and what it lives in. */
export interface Assistant {
  agent: Agent
  readonly store: SessionStore
  /** Where sessions are kept; undefined where they are gone with the process. */
  readonly sessions: string | undefined
  readonly root: string
  /** What the person should know, as sentences. */
  readonly notes: readonly string[]
  /** MCP servers whose tools the agent has, by their names. */
  readonly servers: readonly string[]
  /** Goes on with another session of the store: `agent` is another one then. Resolves with what the person should know about it. */
  reopen(sessionId: string): Promise<string[]>
  /** Begins a new session; the one before is kept. */
  renew(): void
  /** Gives back everything; what was said is stored then. */
  close(): Promise<void>
}

const systemPrompt = (root: string): string => `You are phi, an assistant for work on source code, in a terminal.
Your tools work in the directory ${JSON.stringify(root)}; paths are relative to it. Look before you change something, change little, and check what you did.
Claim only what you have seen. Answer briefly, in markdown.`

/** An agent and the place it lives in. */
interface Beginning extends Pick<Assistant, 'agent' | 'root' | 'store' | 'sessions' | 'notes' | 'servers'> {
  /** Absent where sessions are in memory: nobody else can open them. */
  open?: OpenSessions
  remove?: () => void
}

/** The terminal that an assistant is opened for. */
interface Surroundings {
  isLive: boolean
  logger: Logger
}

/** Makes the agent. Throws `ConfigError` where the command line cannot be followed, `SessionError` for a session that cannot be read. */
export async function openAssistant(args: CliArguments, { isLive, logger }: Surroundings): Promise<Assistant> {
  const beginning = args.demo === true ? demo(args, { isLive, logger }) : await own(args, logger)
  const assistant = new OpenAssistant(beginning)
  try {
    if (isLevel(args.thinking)) assistant.agent.configure({ thinking: args.thinking })
    if (args.resume !== undefined) assistant.notes.push(...(await assistant.reopen(await chosen(args.resume, beginning.store))))
    else assistant.enter()
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
  readonly #open: OpenSessions | undefined
  readonly #remove: (() => void) | undefined
  readonly #opened: Agent[]

  constructor({ agent, store, sessions, root, notes, servers, open, remove }: Beginning) {
    this.agent = agent
    this.store = store
    this.sessions = sessions
    this.root = root
    this.notes = [...notes]
    this.servers = servers
    this.#open = open
    this.#remove = remove
    this.#opened = [agent]
  }

  async reopen(sessionId: string): Promise<string[]> {
    const { session: _same, journal: _none, ...settings } = this.agent.settings
    const next = await resumeAgent(this.store, sessionId, settings)
    this.agent = next
    this.#opened.push(next)
    return this.enter()
  }

  renew(): void {
    this.agent.reset()
    this.agent.newSession()
    this.enter()
  }

  /** Says that the session is open here; gives what the person should know about others who have it open. */
  enter(): string[] {
    const others = this.#open?.enter(this.agent.sessionId) ?? []
    if (others.length === 0) return []
    const which = others.length === 1 ? `another phi, process ${others[0]}` : `other phis, processes ${others.join(', ')}`
    return [`This session is open in ${which}. With the first thing you say it is yours; there, nothing more can be said in it.`]
  }

  async close(): Promise<void> {
    try {
      for (const agent of this.#opened) agent.abort()
      await Promise.all(this.#opened.map((agent) => agent.close()))
    } finally {
      this.#open?.leave()
      this.#remove?.()
    }
  }
}

/** The demo runs one command, its own and in its own directory; so it may do without a sandbox, where there is none. */
function demo({ sandbox }: CliArguments, { isLive, logger }: Surroundings): Beginning {
  const { root, remove } = demoProject()
  const confined = localTools(root, sandbox !== false)
  const hasBash = confined.tools.some(({ name }) => name === 'bash')
  const { tools, notes } = hasBash ? confined : localTools(root, false)
  const store = memorySessionStore()
  const agent = new Agent({ model: demoModel(isLive ? 12 : 0), tools, systemPrompt: systemPrompt(root), session: store, logger })
  return { agent, root, store, sessions: undefined, notes, servers: [], remove }
}

/** The assistant of this directory, or that of an agent file; the model of the command line is taken in either case. */
async function own({ config, model, sandbox, trust }: CliArguments, logger: Logger): Promise<Beginning> {
  const project = projectAt(process.cwd())
  const { root, sessions } = project
  const store = fileSessionStore(sessions)
  const place = { root, store, sessions, open: new OpenSessions(project.open) }
  if (config === undefined) {
    const chosenModel = await modelFromEnv(model).catch(orWithout)
    const local = localTools(root, sandbox !== false)
    const { tools, skills, notes } = await withUserSkills(project, local.tools)
    const settings = { model: chosenModel, tools, systemPrompt: systemPrompt(root), session: store, logger }
    const agent = new Agent({ ...settings, ...(skills !== undefined && { skills }) })
    return { ...place, agent, notes: [...local.notes, ...notes], servers: [] }
  }
  const { agentFromFile } = await import('./agent-file.ts').catch(missingPart)
  const options = { project, store, hasSandbox: sandbox !== false, isTrusted: trust === true, logger }
  const { agent, notes, servers } = await agentFromFile(config, options)
  if (model !== undefined) agent.configure({ model: await modelFromEnv(model) })
  return { ...place, agent, notes, servers }
}

/** zod is for who uses agent files, so the package does not bring it. */
function missingPart(error: unknown): never {
  if (!(error instanceof Error) || !/package 'zod'/.test(error.message)) throw error
  throw new ConfigError('invalidOption', 'Agent files need zod 4, which is not installed here. Say npm install zod.', { cause: error })
}

/** The advice of the environment, and what this command can do besides. */
function orWithout(error: unknown): never {
  if (!ConfigError.isInstance(error) || error.code !== 'missingEnvVar') throw error
  throw new ConfigError('missingEnvVar', `${error.message} --model names another one, and phi --demo needs no key.`)
}

/** The session that is meant: the last one, or one by its id. */
async function chosen(wanted: string | true, store: SessionStore): Promise<string> {
  if (typeof wanted === 'string') return wanted
  const { sessions } = await store.list({ limit: 20 })
  const last = sessions.find(({ error }) => error === undefined)
  if (last === undefined) throw new ConfigError('invalidOption', 'There is no session of this directory to go on with. Begin one with phi.')
  return last.sessionId
}

/** How deep a model can be told to think. */
export const levels: readonly ThinkingLevel[] = thinkingLevel.words

/** Whether `word` says how deep to think. */
export function isLevel(word: string | undefined): word is ThinkingLevel {
  return levels.some((level) => level === word)
}
