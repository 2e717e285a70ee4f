import { settleWithin } from '../../base/abort.ts'
import { copyJson } from '../../base/json/json-value.ts'
import { errorText, type ProviderError, ToolError } from '../../contract/errors.ts'
import { toMessage } from '../../contract/message/history.ts'
import { type AgentMessage, type Message, userMessage, withId } from '../../contract/message/message.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFunction, aNumberFromZero, anything, aText, isTrue, listOf, options, required, type Shape } from '../../contract/shape/shape.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import type { AgentPlugin, TurnHookInfo } from '../../types/run/hooks.ts'
import type { PluginCall, PluginDefinition, PluginStages, PluginTurn, RequestChanges, RequestRetry } from '../../types/run/plugin.ts'
import type { RunEnding } from '../../types/run/run.ts'
import { toToolResult } from '../calls/tool-result.ts'
import { HookRunner, hookFailed } from '../hooks.ts'
import type { AnswerGuard, JoinedPlugins, PluginHost } from './plugin-port.ts'
import { PluginNotes, pluginRun } from './plugin-run.ts'
import { type WordStage, wordFilter } from './word-filter.ts'

/** Maximum retries per turn that plugins may request. */
const maxRetries = 3
/** Milliseconds that an aborted run waits for a plugin to close. */
const closeGraceMs = 1000

const stageTable: { readonly [Name in keyof PluginStages]-?: Shape } = {
  beforeTurn: aFunction,
  request: aFunction,
  delta: aFunction,
  response: aFunction,
  requestFailed: aFunction,
  call: aFunction,
  afterTurn: aFunction,
  idle: aFunction,
  ending: aFunction,
  close: aFunction,
}
const requestChanges = options<RequestChanges>({ systemPrompt: aText, messages: listOf(anything) })
const requestRetry = options<RequestRetry>({ retry: required(isTrue), delayMs: aNumberFromZero })

/** Return value of a plugin stage. */
// biome-ignore lint/suspicious/noConfusingVoidType: a stage that returns nothing is the common case
type StageAnswer<T> = T | undefined | void

/** A started plugin. */
interface Joined {
  name: string
  stages: PluginStages
  hooks: HookRunner
  notes: PluginNotes
}

/** Starts a loop's plugins. If a plugin fails, the loop fails, and the plugins before it receive the ending and are closed. */
export function joined(plugins: readonly (AgentPlugin & Pick<PluginDefinition, 'begin'>)[], host: PluginHost): JoinedPlugins {
  const all: Joined[] = []
  try {
    for (const plugin of plugins) all.push(begun(plugin, host))
  } catch (error) {
    host.fail(error)
  }
  return new RunningPlugins(host, all)
}

function begun({ name, begin }: Pick<PluginDefinition, 'name' | 'begin'>, host: PluginHost): Joined {
  const notes = new PluginNotes(name, host)
  try {
    const stages = begin(pluginRun(host, notes)) ?? {}
    checkOptions(stages, options<PluginStages>(stageTable), `the stages of plugin ${JSON.stringify(name)}`)
    const own = {
      ...(stages.beforeTurn && { beforeTurn: (turn: TurnHookInfo) => stages.beforeTurn?.(turn) }),
      ...(stages.afterTurn && { afterTurn: (turn: PluginTurn) => stages.afterTurn?.(turn) }),
    }
    return { name, stages, notes, hooks: new HookRunner(host, own, (stage) => nameOf(name, stage)) }
  } catch (error) {
    throw hookFailed(nameOf(name, 'begin'), error)
  }
}

function nameOf(plugin: string, stage: string): string {
  return `The ${stage} stage of plugin ${JSON.stringify(plugin)}`
}

class RunningPlugins implements JoinedPlugins {
  readonly #host: PluginHost
  readonly #plugins: readonly Joined[]
  readonly #words: readonly WordStage[]
  readonly responseStages: readonly AnswerGuard[]
  readonly watchesCalls: boolean
  readonly mayGoOn: boolean

  constructor(host: PluginHost, plugins: readonly Joined[]) {
    this.#host = host
    this.#plugins = plugins
    this.#words = plugins.flatMap(({ name, stages }) => (stages.delta === undefined ? [] : this.#closed(name, stages)))
    this.responseStages = plugins.flatMap(({ name, stages }) => {
      const { response } = stages
      return response === undefined ? [] : { who: nameOf(name, 'response'), judge: (info) => response.call(stages, info) }
    })
    this.watchesCalls = plugins.some(({ stages }) => stages.call !== undefined)
    this.mayGoOn = plugins.some(({ stages }) => stages.idle !== undefined)
  }

  async beforeTurn(): Promise<RunEnding | undefined> {
    for (const { hooks } of this.#plugins) {
      const ending = await hooks.beforeTurn()
      if (ending !== undefined) return ending
    }
    return undefined
  }

  async request(given: StreamRequest): Promise<StreamRequest> {
    const { stop, turnIndex } = this.#host
    let request = given
    for (const { name, stages } of this.#plugins) {
      if (stages.request === undefined) continue
      const { systemPrompt, messages } = request
      const changes = await this.#decided(name, 'request', requestChanges, () =>
        stages.request?.({ turnIndex, systemPrompt, messages: [...messages], signal: stop.signal }),
      )
      if (changes !== undefined) request = { ...request, ...this.#changed(name, request, changes) }
    }
    return request
  }

  #changed(name: string, { messages }: StreamRequest, changes: RequestChanges): Partial<StreamRequest> {
    const { systemPrompt } = changes
    const known = new Set<unknown>(messages)
    const isKnown = (message: unknown): message is Message => known.has(message)
    try {
      const given = changes.messages?.flatMap((message, at): Message[] => {
        if (isKnown(message)) return [message]
        const made = toMessage(message, `messages[${at}]`)
        return made.role === 'extension' ? [] : [made]
      })
      return { ...(systemPrompt !== undefined && { systemPrompt }), ...(given !== undefined && { messages: given }) }
    } catch (error) {
      throw hookFailed(nameOf(name, 'request'), error)
    }
  }

  words(messageId: string): ReturnType<JoinedPlugins['words']> {
    return this.#words.length === 0 ? undefined : wordFilter(this.#words, messageId)
  }

  /** Returns a plugin's `delta` stage. If the stage fails, withholds the text, because it is unchecked. */
  #closed(name: string, stages: PluginStages): WordStage {
    return (words) => {
      if (this.#host.failure !== undefined) return ''
      try {
        const shown: unknown = stages.delta?.(words)
        if (typeof shown === 'string') return shown
        throw new TypeError(`it returned ${shown === null ? 'null' : typeof shown}, not text`)
      } catch (error) {
        this.#host.fail(hookFailed(nameOf(name, 'delta'), error))
        return ''
      }
    }
  }

  async requestFailed(error: ProviderError, retries: number): ReturnType<JoinedPlugins['requestFailed']> {
    if (retries >= maxRetries || this.#host.stop.aborted) return undefined
    const { stop, turnIndex } = this.#host
    for (const { name, stages } of this.#plugins) {
      if (stages.requestFailed === undefined) continue
      const failed = { error: this.#host.log.failureOf(error), turnIndex, retries, signal: stop.signal }
      try {
        const verdict = await this.#decided(name, 'requestFailed', requestRetry, () => stages.requestFailed?.(failed))
        if (verdict !== undefined) return { delayMs: verdict.delayMs ?? 0, maxRetries }
      } catch (thrown) {
        if (!stop.aborted) this.#host.fail(thrown)
        return undefined
      }
    }
    return undefined
  }

  around(call: PluginCall, work: () => Promise<ToolResult>): () => Promise<ToolResult> {
    return this.#plugins.reduceRight((run, { name, stages }) => {
      return stages.call === undefined ? run : () => this.#aroundOne(name, stages, call, run)
    }, work)
  }

  async #aroundOne(name: string, stages: PluginStages, call: PluginCall, run: () => Promise<ToolResult>): Promise<ToolResult> {
    let isOver = false
    // Do not run the tool of a detached or finished call.
    const whileOn = async (): Promise<ToolResult> => {
      call.signal.throwIfAborted()
      if (isOver) throw new ToolError('cancelled', 'The call has ended, so run() cannot run it. Await run() within the call stage.')
      return run()
    }
    // Prevent an unhandled rejection if a stage does not await the tool.
    const started = (): Promise<ToolResult> => {
      const running = whileOn()
      running.catch(() => undefined)
      return running
    }
    let result: unknown
    try {
      result = await stages.call?.({ ...call, args: copyJson(call.args) }, started)
    } finally {
      isOver = true
    }
    if (typeof result === 'object' && result !== null && 'content' in result) return toToolResult(call.toolName, result, this.#host.log)
    throw new TypeError(`${nameOf(name, 'call')} did not return a tool result. Return the value run() resolves with, or { content }.`)
  }

  async endTurn(turn: Parameters<JoinedPlugins['endTurn']>[0]): Promise<void> {
    const { message, usage, toolResults } = turn
    for (const { hooks, notes } of this.#plugins) {
      await hooks.afterTurn(message, usage, toolResults)
      await notes.write()
    }
  }

  idle(): AgentMessage | undefined {
    if (this.#host.stop.aborted) return undefined
    for (const { name, stages } of this.#plugins) {
      try {
        const words: unknown = stages.idle?.()
        if (words === undefined) continue
        if (typeof words !== 'string' || words.trim() === '') throw new TypeError('it did not return text')
        return withId({ ...userMessage(words), provenanceHint: { kind: 'runtime' } })
      } catch (error) {
        this.#host.fail(hookFailed(nameOf(name, 'idle'), error))
        return undefined
      }
    }
    return undefined
  }

  ending(ending: RunEnding): void {
    for (const { name, stages } of this.#plugins) {
      try {
        stages.ending?.(structuredClone(ending))
      } catch (error) {
        this.#log(name, 'ending', error)
      }
    }
  }

  async close(): Promise<void> {
    const closing = this.#plugins.map(({ name, stages }) => {
      if (stages.close === undefined) return undefined
      const closed = (async () => stages.close?.())()
      return settleWithin(closed, this.#host.options.signal, closeGraceMs).catch((error) => this.#log(name, 'close', error))
    })
    await Promise.all(closing)
    for (const { name, notes } of this.#plugins) {
      const message = `Notes of plugin ${JSON.stringify(name)} were not stored: no turn followed keep(). Call keep() in afterTurn or earlier.`
      if (notes.isWaiting) this.#host.log.warn('notesLost', { message })
    }
  }

  /** Returns the decision of a stage. Fails closed: a missing or invalid decision ends the run. */
  async #decided<T>(
    name: string,
    stage: string,
    shape: Shape,
    ask: () => StageAnswer<T> | Promise<StageAnswer<T>>,
  ): Promise<T | undefined> {
    const { stop } = this.#host
    try {
      const verdict = (await stop.race((async () => ask())())) ?? undefined
      if (verdict === undefined) return undefined
      checkOptions(verdict, shape, `${stage}()`)
      return verdict
    } catch (error) {
      if (stop.aborted) throw error
      throw hookFailed(nameOf(name, stage), error)
    }
  }

  #log(name: string, stage: string, error: unknown): void {
    this.#host.log.warn('hookFailed', { hook: nameOf(name, stage), message: errorText(error) })
  }
}
