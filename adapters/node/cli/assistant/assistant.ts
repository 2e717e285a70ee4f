import {
  Agent,
  type AgentOptions,
  ConfigError,
  type Model,
  memorySessionStore,
  resumeAgent,
  type SessionStore,
  type ThinkingLevel,
} from '../../../../src/index.ts'
import { fileSessionStore } from '../../index.ts'
import type { CliArguments } from '../args.ts'
import { demoModel } from '../demo/demo-model.ts'
import { demoProject } from '../demo/demo-project.ts'
import { type LocalTools, localTools } from './local-tools.ts'
import { defaultModelName, modelNamed } from './models.ts'
import { type Project, projectAt } from './project.ts'

/** The agent of a command line, and what it lives in. */
export interface Assistant {
  agent: Agent
  readonly store: SessionStore
  /** Where sessions are kept; undefined where they are gone with the process. */
  readonly sessions: string | undefined
  readonly root: string
  /** What the person should know, as sentences. */
  readonly notes: readonly string[]
  /** Goes on with another session of the store: `agent` is another one then. */
  reopen(sessionId: string): Promise<void>
  /** Gives back everything; what was said is stored then. */
  close(): Promise<void>
}

const systemPrompt = (root: string): string => `You are phi, an assistant for work on source code, in a terminal.
Your tools work in the directory ${JSON.stringify(root)}; paths are relative to it. Look before you change something, change little, and check what you did.
Claim only what you have seen. Answer briefly, in markdown.`

/** What every assistant begins with, whoever its model is. */
interface Beginning {
  model: Model
  root: string
  store: SessionStore
  sessions: string | undefined
  hasSandbox: boolean
  remove?: () => void
}

/** Makes the agent. Throws `ConfigError` where the command line cannot be followed, `SessionError` for a session that cannot be read. */
export async function openAssistant(args: CliArguments, isLive: boolean): Promise<Assistant> {
  const beginning = args.demo === true ? await demo(args, isLive) : await own(args)
  const { tools, notes } = toolsOf(beginning, args)
  const options: Omit<AgentOptions, 'session'> = {
    model: beginning.model,
    tools,
    systemPrompt: systemPrompt(beginning.root),
    ...(isLevel(args.thinking) && { thinking: args.thinking }),
  }
  const assistant = new OpenAssistant(beginning, new Agent({ ...options, session: beginning.store }), notes)
  if (args.resume !== undefined) await assistant.reopen(await chosen(args.resume, beginning.store))
  return assistant
}

class OpenAssistant implements Assistant {
  agent: Agent
  readonly store: SessionStore
  readonly sessions: string | undefined
  readonly root: string
  readonly notes: readonly string[]
  readonly #remove: (() => void) | undefined
  readonly #opened: Agent[]

  constructor({ store, sessions, root, remove }: Beginning, agent: Agent, notes: readonly string[]) {
    this.agent = agent
    this.store = store
    this.sessions = sessions
    this.root = root
    this.notes = notes
    this.#remove = remove
    this.#opened = [agent]
  }

  async reopen(sessionId: string): Promise<void> {
    const { session: _same, journal: _none, ...settings } = this.agent.settings
    const next = await resumeAgent(this.store, sessionId, settings)
    this.agent = next
    this.#opened.push(next)
  }

  async close(): Promise<void> {
    try {
      for (const agent of this.#opened) agent.abort()
      await Promise.all(this.#opened.map((agent) => agent.close()))
    } finally {
      this.#remove?.()
    }
  }
}

/** The demo runs one command, its own and in its own directory; so it may do without a sandbox, where there is none. */
function toolsOf({ root, hasSandbox }: Beginning, { demo: isDemo }: CliArguments): LocalTools {
  const local = localTools(root, hasSandbox)
  const hasBash = local.tools.some(({ name }) => name === 'bash')
  return isDemo === true && !hasBash ? localTools(root, false) : local
}

async function demo({ sandbox }: CliArguments, isLive: boolean): Promise<Beginning> {
  const { root, remove } = demoProject()
  return {
    model: demoModel(isLive ? 12 : 0),
    root,
    store: memorySessionStore(),
    sessions: undefined,
    hasSandbox: sandbox !== false,
    remove,
  }
}

async function own({ model, sandbox }: CliArguments): Promise<Beginning> {
  const name = model ?? defaultModelName()
  if (name === undefined) {
    const advice =
      'Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, say --model ollama/llama3.3 for a local server, or try phi --demo.'
    throw new ConfigError('invalidOption', `There is no model to ask. ${advice}`)
  }
  const project: Project = projectAt(process.cwd())
  return {
    model: await modelNamed(name),
    root: project.root,
    store: fileSessionStore(project.sessions),
    sessions: project.sessions,
    hasSandbox: sandbox !== false,
  }
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
export const levels: readonly ThinkingLevel[] = ['off', 'minimal', 'low', 'medium', 'high']

/** Whether `word` says how deep to think. */
export function isLevel(word: string | undefined): word is ThinkingLevel {
  return levels.some((level) => level === word)
}
