import { contextLimitOf } from '../../src/context.ts'
import { Agent, type AgentMessage, defineTool, type Model } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { type ScriptedStep, scripted } from '../../testing/index.ts'
import { callerToken, createModelProxy } from '../http/index.ts'
import {
  bearer,
  createWorker,
  IndexObject,
  type LiveAgentOptions,
  LiveSessionObject,
  type ObjectNamespace,
  objectLiveSessions,
  onLoopback,
} from './index.ts'

/**
 * Creates a scripted model that identifies itself as scripted and makes real tool calls. `remember` needs approval. Depends only on the
 * conversation, so that a session continues after its object restarts.
 */
function demoModel(): Model {
  return scripted(({ messages, tools }) => nextStep(messages, new Set(tools.map(({ name }) => name))), { delayMs: 20, chunkSize: 8 })
}

function nextStep(messages: readonly Pick<AgentMessage, 'role'>[], tools: ReadonlySet<string>): ScriptedStep {
  const results = messages
    .slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
    .filter(({ role }) => role === 'toolResult').length
  if (results === 0) return { text: introduction, toolCalls: [{ name: 'current_time', arguments: {} }] }
  if (results === 1 && tools.has('remember')) {
    return { text: 'May I remember that you were here? ', toolCalls: [{ name: 'remember', arguments: { fact: 'The user was here.' } }] }
  }
  return { text: 'The tool returned a result, so the whole loop runs in this Worker.' }
}

const introduction =
  'I am a scripted model; set ANTHROPIC_API_KEY for a real one. This text is a little long so that you can watch it stream, ' +
  'close the page midway, and read the rest when you return: in a session, the run continues even if no client is connected. '

/** Bindings of this Worker: `wrangler secret put …`, or `.dev.vars` for `wrangler dev`. */
interface Bindings {
  /** API key of the real model. Without it, the model is scripted. */
  ANTHROPIC_API_KEY?: string
  /** Default: `claude-sonnet-4-6`. */
  ANTHROPIC_MODEL?: string
  /** Token that callers send as `Authorization: Bearer …`, with at least 8 characters. Required with an API key. */
  ACCESS_TOKEN?: string
  SESSIONS: ObjectNamespace
  INDEX: ObjectNamespace
}

const clock = defineTool({
  name: 'current_time',
  label: 'Current time',
  description: 'The current date and time in UTC, as ISO 8601.',
  parameters: { type: 'object', properties: {}, additionalProperties: false },
  execute: () => new Date().toISOString(),
})

function modelOf(env: Bindings): Model {
  if (env.ANTHROPIC_API_KEY === undefined) return demoModel()
  return anthropic(env.ANTHROPIC_MODEL ?? 'claude-sonnet-4-6', { apiKey: env.ANTHROPIC_API_KEY })
}

/** Only for sessions, because a run without a session cannot wait for an approval. */
const remember = defineTool({
  name: 'remember',
  label: 'Remember',
  description: 'Remembers a fact for the rest of this conversation.',
  parameters: { type: 'object', properties: { fact: { type: 'string' } }, required: ['fact'] },
  needsApproval: true,
  execute: ({ fact }) => `Remembered: ${fact}`,
})

function agentOf(env: Bindings): LiveAgentOptions {
  return { model: modelOf(env), systemPrompt: 'You are a helpful assistant.', tools: [clock] }
}

/** One object per session, in which the agent runs even without a connected client. */
export class Conversation extends LiveSessionObject<Bindings> {
  // Let the playground show requests and import sessions, because the only user deployed this Worker.
  protected override readonly turnRequests = true
  protected override readonly imports = true
  protected override readonly keptEvents = { includeStreamingEvents: true }

  protected agentOptions(): LiveAgentOptions {
    const { tools = [], ...rest } = agentOf(this.env)
    return { ...rest, tools: [...tools, remember], captureTurnRequests: true }
  }

  protected override index(): ObjectNamespace {
    return this.env.INDEX
  }
}

export { IndexObject }

/** Without a token, accepts only this machine, and only without an API key. */
const authorize = (env: Bindings, request: Request) =>
  env.ACCESS_TOKEN === undefined && env.ANTHROPIC_API_KEY === undefined ? onLoopback(request) : bearer(env.ACCESS_TOKEN)(request)

const app = createWorker<Bindings>({
  agent: (env) => new Agent(agentOf(env)),
  sessions: (env) => objectLiveSessions({ sessions: env.SESSIONS, index: env.INDEX }),
  authorize,
})

/** Model information for the playground. */
app.get('/about', (c) => {
  const { config } = modelOf(c.env)
  const isScripted = c.env.ANTHROPIC_API_KEY === undefined
  return c.json({ model: config.name, isScripted, contextTokens: contextLimitOf(config), cost: config.cost })
})

/** Proxy for agents in the browser. Adds the API key and limits its use. */
const proxy = createModelProxy<{ Bindings: Bindings }>({
  upstreams: { anthropic: { api: 'anthropicMessages', apiKey: (c) => c.env.ANTHROPIC_API_KEY ?? '' } },
  authorize: (c) => authorize(c.env, authorized(c.req.raw, callerToken(c))),
  allow: { anthropic: ['claude-*'] },
  budget: { windows: [{ ms: 60_000, requests: 60 }] },
})
app.route('/models', proxy)

/** Returns whether a request contains the token, as a bearer token or as an Anthropic client's key. */
function authorized(request: Request, token: string | undefined): Request {
  const headers = new Headers(request.headers)
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
  return new Request(request.url, { headers })
}

// wrangler uses the default export, the only one in this repository.
export default app
