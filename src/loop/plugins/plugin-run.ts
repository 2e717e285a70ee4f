import { aModel } from '../../base/argument-checks.ts'
import { copyJson } from '../../base/json/json-value.ts'
import { ProviderError } from '../../contract/errors.ts'
import type { JsonValue } from '../../contract/json.ts'
import { extensionMessage } from '../../contract/message/message.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aText, json, options } from '../../contract/shape/shape.ts'
import type { PluginQuestion, PluginRun } from '../../types/run/plugin.ts'
import { agentLoop } from '../agent-loop.ts'
import { addNotice } from '../intake.ts'
import type { PluginHost } from './plugin-port.ts'

const question = options<PluginQuestion>({ model: aModel, systemPrompt: aText })

/** Creates the run object that is passed to a plugin. */
export function pluginRun(host: PluginHost, notes: PluginNotes): PluginRun {
  const { agentId, events, options, stop } = host
  const { runId, loopId, sessionId } = events
  return {
    data: (name, value, given) => host.data.send(name, value, given),
    ...{ context: options.context, runId, loopId, sessionId, agentId },
    ...(options.agentName !== undefined && { agentName: options.agentName }),
    get signal() {
      return stop.signal
    },
    get notes() {
      return notes.current
    },
    keep: (value) => notes.keep(value),
    ask: (prompt, given = {}) => asked(host, prompt, given),
  }
}

/** Runs one model call as a loop without observers or session records. */
async function asked(host: PluginHost, prompt: string, given: PluginQuestion): Promise<string> {
  checkOptions(given, question, 'ask()')
  const { model = host.turn.model, systemPrompt = '' } = given
  const context = { systemPrompt, messages: [], tools: [], sessionId: host.events.sessionId, loopId: `${host.events.loopId}.plugin` }
  const { stop, budget } = host
  const config = { model, logger: false, limits: { maxTurns: 1 }, contextConfig: false } as const
  const { status, text, ...result } = await agentLoop(prompt, context, config, { emit: () => undefined, signal: stop.signal, budget })
  if (status === 'completed') return text
  stop.throwIfAborted()
  throw new ProviderError('api', `The model call failed: ${'error' in result && result.error ? result.error.message : status}`)
}

/** A plugin's notes in the session. */
export class PluginNotes {
  readonly #kind: string
  readonly #host: PluginHost
  #notes: JsonValue | undefined
  #isNew = false

  constructor(plugin: string, host: PluginHost) {
    this.#kind = `plugin.${plugin}`
    this.#host = host
    const last = host.context.messages.findLast((message) => message.role === 'extension' && message.kind === this.#kind)
    if (last?.role === 'extension') this.#notes = last.data
  }

  get current(): JsonValue | undefined {
    return copyJson(this.#notes)
  }

  /** Whether there are unwritten notes. */
  get isWaiting(): boolean {
    return this.#isNew
  }

  keep(notes: JsonValue): void {
    checkOptions(notes, json, 'keep()')
    this.#notes = copyJson(notes)
    this.#isNew = true
  }

  async write(): Promise<void> {
    if (!this.#isNew || this.#notes === undefined) return
    this.#isNew = false
    await addNotice(this.#host, extensionMessage(this.#kind, copyJson(this.#notes)))
  }
}
