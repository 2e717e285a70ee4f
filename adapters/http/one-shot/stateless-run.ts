import type { Context, Env, Hono } from 'hono'
import type { ClientSettings } from '../../../src/contract/model/model-config.ts'
import type { Agent, AgentTool } from '../../../src/index.ts'
import type { CallerRequest, CallerTool } from '../../../src/internal.ts'
import { serverSchema } from '../../../src/internal.ts'
import type { Caller } from '../access/authorize.ts'
import { readOwnBody } from '../access/body.ts'
import { type Problem, problemResponse } from '../access/problem.ts'
import { askedOf } from '../live/commands/client-ask.ts'
import { answerUnattended } from '../live/commands/unattended.ts'
import { RunEvents } from '../live/gateway/run-events.ts'
import { refuseCaller } from '../openai/openai-error.ts'
import { promptKeys, promptOf } from '../routes/prompt-body.ts'
import type { SessionRouteOptions } from '../routes/route-options.ts'
import type { RunSource } from '../stream/event-source.ts'
import { eventStream } from '../stream/run-stream.ts'

/** A run whose conversation came with the request. */
export interface StatelessRun {
  source: RunSource
  given: ReadonlySet<string>
  /** Nobody can come back to it: it is stopped where its client leaves. */
  stop: (reason: unknown) => void
}

/** What a server lets callers say besides. */
export interface CallerRights {
  settings: ClientSettings
  /** Whether they may bring tools of their own. */
  callerTools: boolean
}

/**
 * Begins a run of an agent that is made for one request, with the whole conversation as its input: filters of the agent look at all that users say in it.
 *
 * **Contract**
 * - Where the model calls tools of the caller, the run ends there, and the caller has the calls. Nothing of the agent's own is run because a caller says that it was
 *   called: such a call is refused.
 * - `signal` is that of the request: a client that goes away stops the run.
 */
export function statelessRun(made: Agent, request: CallerRequest, rights: CallerRights, signal: AbortSignal): StatelessRun {
  refuseOwnNames(request, ownNames(made))
  if (request.tools.length > 0 && !rights.callerTools) {
    refuseCaller({
      message: "Unsupported parameter: 'tools'. This agent takes no tools of callers.",
      param: 'tools',
      code: 'unsupported_parameter',
    })
  }
  if (request.responseFormat !== undefined && made.settings.responseFormat !== undefined) {
    refuseCaller({ message: 'This agent has a form of its own for its answers.', param: 'response_format', code: 'unsupported_parameter' })
  }
  const { tools: own } = made.settings
  const theirs = request.tools.filter(({ name }) => !own.some((tool) => tool.name === name))
  const agent = made.with({ tools: [...own, ...theirs.map(asAgentTool)], ...withInstructions(made, request.instructions) })
  const { responseFormat, messages } = request
  const run = agent.prompt(messages, { ...rights.settings, ...(responseFormat !== undefined && { responseFormat }), signal })
  answerUnattended(run, { canApprove: false })
  run.subscribe((event) => {
    // The next request brings the result: this run has nobody to wait for.
    if (event.type === 'clientCallRequested' && event.subAgent === undefined) agent.stopAsking()
  })
  const given = new Set(messages.map(({ id }) => id))
  return { source: new RunEvents(run), given, stop: (reason) => run.abort(reason) }
}

/** The names that no caller may take: those of tools that run inside. What the agent declares for pages, a caller runs as the agent says. */
function ownNames({ settings: { tools = [] } }: Agent): ReadonlySet<string> {
  const inside = tools.flatMap((tool) => [tool, ...(tool.companions ?? [])]).filter(({ client }) => client === undefined)
  return new Set(inside.map(({ name }) => name))
}

/** A caller that could name them would say what the agent's own tools have found, or take their place. */
function refuseOwnNames({ tools, messages }: CallerRequest, own: ReadonlySet<string>): void {
  const taken = tools.find(({ name }) => own.has(name))
  if (taken !== undefined) refuseCaller({ message: `A tool of the agent is called "${taken.name}". Name yours otherwise.`, param: 'tools' })
  const calls = messages.flatMap(({ role, content }) => (role === 'assistant' ? content : []))
  const forged = calls.find((block) => block.type === 'toolCall' && own.has(block.name))
  if (forged?.type !== 'toolCall') return
  refuseCaller({ message: `"${forged.name}" is a tool of the agent, which runs inside. Leave its calls and results out.` })
}

/** Characters: results come with the next request, and are bounded as its body is. */
const maxCallerResult = 262_144

function asAgentTool({ name, description, parameters }: CallerTool): AgentTool {
  const schema = serverSchema(parameters)
  if (schema === undefined) refuseCaller({ message: `The parameters of "${name}" are too large, or nested too deep.`, param: 'tools' })
  const { unchecked: _, ...described } = schema
  return {
    ...{ name, label: name, description, ...described },
    // It waits, as for a page: only the caller can run it.
    client: { maxResultChars: maxCallerResult },
    execute: () => Promise.reject(new Error('The caller runs this tool.')),
  }
}

function withInstructions({ settings: { systemPrompt } }: Agent, instructions: string): Partial<Agent['settings']> {
  if (instructions === '') return {}
  const joined = (prompt: string): string => (prompt === '' ? instructions : `${prompt}\n\n${instructions}`)
  return {
    systemPrompt: typeof systemPrompt === 'function' ? async (turn) => joined(await systemPrompt(turn)) : joined(systemPrompt ?? ''),
  }
}

/** What the route has to know of its app. */
interface OneShotOptions<E extends Env> extends SessionRouteOptions {
  access: (c: Context<E>) => Promise<Caller>
  agent: MakeAgent<E>
}

/**
 * `POST /runs` with `{ "prompt": "…", "metadata": … }`: one run of an agent that is made for it.
 *
 * **Contract**: a client that goes away aborts the run, because nobody could come back to it. So does an event that cannot be written as JSON.
 */
export function addOneShotRuns<E extends Env>(app: Hono<E>, { access, agent, ...options }: OneShotOptions<E>): void {
  app.post('/runs', async (c) => {
    const caller = await access(c)
    // Of the request as it came: it tells when the client goes.
    const { signal } = c.req.raw
    const { messages, ask } = promptOf(await readOwnBody(c, options.body, promptKeys), options.clientSettings)
    options.streams.assertRoom(caller)
    const made = await agent(c, caller)
    if ('detail' in made) return problemResponse(made)
    const run = made.prompt(messages, { signal, ...askedOf(ask, made, 'ofApplication') })
    return eventStream(new RunEvents(run), { ...options, caller }, { onCancel: (reason) => run.abort(reason) })
  })
}

/** Creates the agent for one request. Return a `Problem` to refuse. */
export type MakeAgent<E extends Env = Env> = (c: Context<E>, caller: Caller) => Agent | Problem | Promise<Agent | Problem>
