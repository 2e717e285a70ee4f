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
import { contextFrom, contextRequest, type MakeContext, type RunContext } from '../live/run-context.ts'
import { refuseCaller } from '../openai/openai-error.ts'
import { promptKeys, promptOf } from '../routes/prompt-body.ts'
import type { SessionRouteOptions } from '../routes/route-options.ts'
import type { RunSource } from '../stream/event-source.ts'
import { eventStream } from '../stream/run-stream.ts'

/** A run whose request contains the whole conversation. */
export interface StatelessRun {
  source: RunSource
  given: ReadonlySet<string>
  /** Stops the run when its client disconnects, because no client can reconnect to it. */
  stop: (reason: unknown) => void
}

/** Caller permissions. */
export interface CallerRights {
  settings: ClientSettings
  /** Whether callers can declare tools. */
  callerTools: boolean
  own: RunContext
}

/**
 * Starts a run of a new agent with the whole conversation as input, so that the agent's filters see all user messages.
 *
 * **Contract**
 * - A call to a caller's tool ends the run, and the caller receives the call. Rejects conversations that contain calls to the agent's own
 *   tools.
 * - `signal` is the request's signal, so a client that disconnects stops the run.
 */
export function statelessRun(made: Agent, request: CallerRequest, rights: CallerRights, signal: AbortSignal): StatelessRun {
  refuseOwnNames(request, ownNames(made))
  if (request.tools.length > 0 && !rights.callerTools) {
    refuseCaller({
      message: "Unsupported parameter: 'tools'. This agent does not accept tools from callers.",
      param: 'tools',
      code: 'unsupported_parameter',
    })
  }
  if (request.responseFormat !== undefined && made.settings.responseFormat !== undefined) {
    refuseCaller({ message: 'This agent defines its own response format.', param: 'response_format', code: 'unsupported_parameter' })
  }
  const { tools: own } = made.settings
  const theirs = request.tools.filter(({ name }) => !own.some((tool) => tool.name === name))
  const agent = made.with({ tools: [...own, ...theirs.map(asAgentTool)], ...withInstructions(made, request.instructions) })
  const { responseFormat, messages } = request
  const run = agent.prompt(messages, { ...rights.settings, ...rights.own, ...(responseFormat !== undefined && { responseFormat }), signal })
  answerUnattended(run, { canApprove: false })
  run.subscribe((event) => {
    // The next request contains the result, so this run must not wait.
    if (event.type === 'clientCallRequested' && event.subAgent === undefined) agent.stopAsking()
  })
  const given = new Set(messages.map(({ id }) => id))
  return { source: new RunEvents(run), given, stop: (reason) => run.abort(reason) }
}

/**
 * Returns the tool names that callers must not use: the names of server tools. A caller can implement the agent's client tools.
 */
function ownNames({ settings: { tools = [] } }: Agent): ReadonlySet<string> {
  const inside = tools.flatMap((tool) => [tool, ...(tool.companions ?? [])]).filter(({ client }) => client === undefined)
  return new Set(inside.map(({ name }) => name))
}

/**
 * Rejects caller tools and calls with the names of the agent's tools. Otherwise, a caller could replace the agent's tools or forge their
 * results.
 */
function refuseOwnNames({ tools, messages }: CallerRequest, own: ReadonlySet<string>): void {
  const taken = tools.find(({ name }) => own.has(name))
  if (taken !== undefined) refuseCaller({ message: `The agent already has a tool named "${taken.name}". Rename yours.`, param: 'tools' })
  const calls = messages.flatMap(({ role, content }) => (role === 'assistant' ? content : []))
  const forged = calls.find((block) => block.type === 'toolCall' && own.has(block.name))
  if (forged?.type !== 'toolCall') return
  refuseCaller({ message: `"${forged.name}" is a server-side tool. Remove its calls and results from messages.` })
}

/** Maximum characters in a caller's result. The next request contains the results, and its body is limited. */
const maxCallerResult = 262_144

function asAgentTool({ name, description, parameters }: CallerTool): AgentTool {
  const schema = serverSchema(parameters)
  if (schema === undefined) refuseCaller({ message: `The parameters of "${name}" are too large or nested too deeply.`, param: 'tools' })
  const { unchecked: _, ...described } = schema
  return {
    ...{ name, label: name, description, ...described },
    // Declare it as a client tool, because only the caller can run it.
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

/** Options for the route. */
interface OneShotOptions<E extends Env> extends SessionRouteOptions {
  access: (c: Context<E>) => Promise<Caller>
  agent: MakeAgent<E>
  context?: MakeContext<E>
}

/**
 * Adds `POST /runs` with `{ "prompt": "…", "metadata": … }`, which creates a new agent for one run.
 *
 * **Contract**
 * - The run aborts if its client disconnects, because no client can reconnect, or if an event cannot be written as JSON.
 */
export function addOneShotRuns<E extends Env>(app: Hono<E>, { access, agent, context, ...options }: OneShotOptions<E>): void {
  app.post('/runs', async (c) => {
    const caller = await access(c)
    // The signal of the original request aborts when the client disconnects.
    const { signal } = c.req.raw
    const { messages, ask } = promptOf(await readOwnBody(c, options.body, promptKeys), options.clientSettings)
    options.streams.assertRoom(caller)
    const made = await agent(c, caller)
    if ('detail' in made) return problemResponse(made)
    const own = context && (await contextFrom(context, c, contextRequest('start', { ...caller, sessionId: made.sessionId })))
    const run = made.prompt(messages, { signal, ...askedOf(ask, made, 'ofApplication'), ...own })
    return eventStream(new RunEvents(run), { ...options, caller }, { onCancel: (reason) => run.abort(reason) })
  })
}

/** Creates the agent for one request. Return a `Problem` to reject. */
export type MakeAgent<E extends Env = Env> = (c: Context<E>, caller: Caller) => Agent | Problem | Promise<Agent | Problem>
