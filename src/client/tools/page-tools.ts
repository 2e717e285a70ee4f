import { answersInstead, noOutput, shownOutput, unshownText } from '../../base/json/tool-output.ts'
import { logWarning } from '../../base/log-warning.ts'
import { startTimer } from '../../base/timer.ts'
import { ConfigError, errorText, PhiError } from '../../contract/errors.ts'
import type { JsonObject, JsonSchema } from '../../contract/json.ts'
import { newId } from '../../contract/message/identity.ts'
import type { ClientToolDeclaration } from '../../contract/model/request-settings.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { PendingClientCall } from '../../contract/run/run-facts.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFunction, aJsonSchema, aText, either, options, recordOf, required, withMethods } from '../../contract/shape/shape.ts'
import type { Logger } from '../../types/logger.ts'
import type { ApprovalRef, ClientCallAnswer } from '../../types/run/question.ts'
import type { AgentRun } from '../../types/run/run.ts'
import type { ToolTypesByName } from '../../types/tool/typed-tool.ts'
import { type AnyTools, type ClientToolFunction, type ClientTools, keyOf } from './client-tools.ts'

/** Source of client tool calls: a remote session or a local agent. */
export interface CallSource {
  pendingClientCalls(): readonly PendingClientCall[]
  claimCall(request: ApprovalRef, clientId: string): Promise<boolean>
  answerCall(request: ApprovalRef, answer: ClientCallAnswer, clientId?: string): Promise<void>
  subscribe(listener: (event: AgentEvent) => void): () => void
  readonly logger?: Logger | false | undefined
}

/** A client tool whose types were checked at registration. */
interface PageTool {
  run: ClientToolFunction
  offer?: { description: string; parameters: JsonSchema }
}

/** A call that this client is running, has finished but not yet reported, or has left to another client. */
interface KnownCall {
  call: PendingClientCall
  stop: AbortController
  answer?: ClientCallAnswer
  stopTimer: () => void
}

/**
 * Milliseconds until a claim is renewed (less than a claim's duration), and until another client's call is claimed (more than that
 * duration).
 */
const renewMs = 10_000
const againMs = 35_000

const handlers = recordOf(
  either(aFunction, options({ description: required(aText), parameters: required(aJsonSchema), run: required(aFunction) })),
)

/**
 * Runs client tool calls in this client.
 *
 * **Contract**
 * - Each call is claimed before it runs, so that only one client runs it. If another client has not finished after half a minute, this
 *   client tries to claim the call again.
 * - A result is cached until the server has recorded it. If the server requests the call again after a restart, the cached result is sent.
 * - If a handler throws, the model gets the error message. If a handler ignores its signal, its late result is dropped.
 */
export class PageTools {
  readonly #source: CallSource
  /** Secret client id, which proves ownership of a claim. */
  readonly #clientId: string
  readonly #tools = new Map<string, PageTool>()
  readonly #calls = new Map<string, KnownCall>()
  #leave: (() => void) | undefined

  constructor(source: CallSource, clientId: string = newId()) {
    this.#source = source
    this.#clientId = clientId
  }

  /** Tool declarations to send with each prompt. */
  get offered(): ClientToolDeclaration[] {
    return [...this.#tools].flatMap(([name, { offer }]) => (offer === undefined ? [] : [{ name, ...offer }]))
  }

  /**
   * Runs pending and later calls to these tools. Returns a function that stops running them. Throws `ConfigError` `invalidOption` for an
   * invalid tool or a name that is already registered.
   */
  add(given: object): () => void {
    checkOptions(given, handlers, 'tools')
    const added = Object.entries(given).map(([name, tool]) => [name, pageTool(tool)] as const)
    for (const [name] of added)
      if (this.#tools.has(name))
        throw new ConfigError('invalidOption', `This client already has a tool named ${JSON.stringify(name)}. Remove it first.`)
    for (const [name, tool] of added) this.#tools.set(name, tool)
    this.#leave ??= this.#source.subscribe((event) => this.#heard(event))
    for (const call of this.#source.pendingClientCalls()) this.#take(call)
    return () => {
      for (const [name] of added) this.#tools.delete(name)
      if (this.#tools.size === 0) this.close()
    }
  }

  /** Handles pending calls whose events were missed. */
  look(): void {
    if (this.#tools.size > 0) for (const call of this.#source.pendingClientCalls()) this.#take(call)
  }

  /** Stops running client tool calls. */
  close(): void {
    this.#leave?.()
    this.#leave = undefined
    for (const [key] of this.#calls) this.#drop(key)
  }

  #heard(event: AgentEvent): void {
    if (event.type === 'clientCallRequested') this.#take(event)
    else if (event.type === 'clientCallResolved') this.#resolved(event)
    else if (event.type === 'agentEnd' && event.status !== 'paused')
      for (const [key, { answer }] of this.#calls) if (answer === undefined) this.#drop(key)
  }

  /** Aborts a call whose result is no longer needed, unless the result is being sent. */
  #resolved({ toolCallId, subAgent }: Pick<PendingClientCall, 'toolCallId' | 'subAgent'>): void {
    for (const [key, { call, answer }] of this.#calls) {
      const isSame = call.toolCallId === toolCallId && call.subAgent?.loopId === subAgent?.loopId
      if (isSame && answer === undefined) this.#drop(key)
    }
  }

  #take(call: PendingClientCall): void {
    const tool = this.#tools.get(call.toolName)
    if (tool === undefined) return
    const key = keyOf(call)
    const known = this.#calls.get(key)
    // The server has restarted and requested the call again.
    if (known?.answer !== undefined) void this.#tell(key, known)
    if (known !== undefined) return
    const made = { call, stop: new AbortController(), stopTimer: () => undefined }
    this.#calls.set(key, made)
    void this.#claim(key, made, tool)
  }

  /** Claims the call and runs it if the claim succeeds. Never rejects. */
  async #claim(key: string, known: KnownCall, tool: PageTool): Promise<void> {
    const isMine = await this.#source.claimCall(known.call, this.#clientId).catch((error: unknown) => this.#lost(key, known, error))
    if (isMine === undefined || this.#calls.get(key) !== known) return
    if (!isMine) {
      known.stopTimer = startTimer(againMs, () => void this.#claim(key, known, tool))
      return
    }
    this.#renew(key, known)
    const answer = await answerOf(tool, known, (why) =>
      this.#warn(new Error(`Cannot serialize the result of ${known.call.toolName}: ${why}`)),
    )
    known.stopTimer()
    if (this.#calls.get(key) !== known || known.stop.signal.aborted) return
    known.answer = answer
    await this.#tell(key, known)
  }

  /** Renews the claim while the call runs. */
  #renew(key: string, known: KnownCall): void {
    known.stopTimer = startTimer(renewMs, () => {
      if (known.answer !== undefined) return
      this.#source.claimCall(known.call, this.#clientId).catch((error: unknown) => this.#warn(error))
      this.#renew(key, known)
    })
  }

  async #tell(key: string, known: KnownCall): Promise<void> {
    const { call, answer } = known
    if (answer === undefined) return
    try {
      await this.#source.answerCall(call, answer, this.#clientId)
      if (this.#calls.get(key) === known) this.#calls.delete(key)
    } catch (error) {
      if (isRefused(error)) await this.#tellShorter(known, answer, errorText(error))
      this.#lost(key, known, error)
    }
  }

  async #tellShorter(known: KnownCall, refused: ClientCallAnswer, why: string): Promise<void> {
    for (const answer of answersInstead(refused, why)) {
      known.answer = answer
      const again = await this.#source.answerCall(known.call, answer, this.#clientId).catch((refusal: unknown) => refusal)
      if (!isRefused(again)) return again === undefined ? undefined : this.#warn(again)
    }
  }

  /** This client no longer holds the claim. */
  #lost(key: string, known: KnownCall, error: unknown): undefined {
    if (this.#calls.get(key) === known) this.#drop(key)
    if (!over.has(codeOf(error))) this.#warn(error)
  }

  #drop(key: string): void {
    const known = this.#calls.get(key)
    this.#calls.delete(key)
    known?.stopTimer()
    known?.stop.abort(new Error('The result of this call is no longer needed.'))
  }

  #warn(error: unknown): void {
    logWarning(this.#source.logger, 'clientToolFailed', { code: codeOf(error), message: errorText(error) })
  }
}

/** Codes of a call that another client has settled, or that is no longer pending. */
const over: ReadonlySet<string> = new Set(['unknownCall', 'notFound', 'argumentsChanged', 'claimedElsewhere', 'closed'])

/** Returns whether a server rejects such a result. */
function isRefused(error: unknown): boolean {
  return codeOf(error) === 'invalidBody' || codeOf(error) === 'invalidMessage'
}

function codeOf(error: unknown): string {
  return PhiError.isInstance(error) ? error.code : 'failed'
}

function pageTool(given: unknown): PageTool {
  if (typeof given === 'function') return { run: given as ClientToolFunction } // Registration checked the parameter type.
  const { description, parameters, run } = given as { description: string; parameters: JsonSchema; run: ClientToolFunction } // just checked
  return { run, offer: { description, parameters } }
}

async function answerOf({ run }: PageTool, { call, stop }: KnownCall, warn: (why: string) => void): Promise<ClientCallAnswer> {
  const { toolCallId, toolName, args } = call
  try {
    const output = await run(args satisfies JsonObject, { toolCallId, toolName, signal: stop.signal })
    const shown = shownOutput(output === undefined ? noOutput : output)
    if ('value' in shown) return { output: shown.value }
    warn(shown.why)
    return { output: unshownText(shown.why) }
  } catch (error) {
    return { error: errorText(error) }
  }
}

/** The parts of a local agent that client tools use. */
interface LocalAgent {
  readonly currentRun: AgentRun | undefined
  pendingClientCalls(): PendingClientCall[]
  subscribe(listener: (event: AgentEvent) => void): () => void
}

/**
 * Runs a local agent's client tool calls, as `session.tools` does for a remote session. Returns a function that stops running them. Calls
 * of a paused run wait until the run continues. Throws `ConfigError` `invalidOption` for an invalid tool.
 *
 * Source: docs/concepts/tools.md
 */
export function runClientTools<Tools extends ToolTypesByName = AnyTools>(agent: LocalAgent, handlers: ClientTools<Tools>): () => void {
  checkOptions(agent, withMethods('an Agent', 'subscribe', 'pendingClientCalls'), 'agent')
  const runOf = (): AgentRun => {
    const { currentRun } = agent
    if (currentRun === undefined) throw new ConfigError('unknownCall', 'Cannot handle the call: the agent has no active run.')
    return currentRun
  }
  const tools = new PageTools({
    pendingClientCalls: () => agent.currentRun?.pendingClientCalls() ?? [],
    claimCall: async (request, clientId) => runOf().claimCall(request, clientId),
    answerCall: async (request, answer, clientId) => runOf().answerCall(request, answer, clientId),
    subscribe: (listener) => agent.subscribe(listener),
  })
  return tools.add(handlers)
}
