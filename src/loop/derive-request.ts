import { raceAbort } from '../base/abort.ts'
import { type AgentMessage, isLlmMessage, type Message } from '../types/message.ts'
import type { StreamRequest, ToolDefinition } from '../types/provider.ts'
import type { AgentTool } from '../types/tool.ts'
import type { LoopRun } from './loop-run.ts'

/** The tools as the model sees them; the same array for the same list of tools. */
const definitions = new WeakMap<readonly AgentTool[], readonly ToolDefinition[]>()

/** A request, and the history entries it was made of, as they were before `convertToLlm`. */
export interface DerivedRequest {
  request: StreamRequest
  entries: readonly AgentMessage[]
}

/**
 * Derives what the model is sent from the history: prunes, reverts and compaction, `transformContext`, `convertToLlm`, then `contextTranslation`. The history is not
 * changed, unchanged messages keep their identity. Rejects with what a callback throws, or with the signal's reason.
 *
 * Source: ARCHITECTURE §3 "History is one ordered list".
 */
export async function deriveRequest(run: LoopRun): Promise<DerivedRequest> {
  const { config, context, signal } = run
  let entries: readonly AgentMessage[] = context.messages
  if (context.state !== undefined || run.nodeIds !== undefined) entries = (await run.contextWindow()).sent()
  let messages: readonly Message[]
  if (config.transformContext === undefined && config.convertToLlm === undefined) messages = entries.filter(isLlmMessage)
  else {
    const { applyContextCallbacks } = await raceAbort(import('./context-callbacks.ts'), signal)
    ;({ entries, messages } = await applyContextCallbacks(config, entries, signal))
  }
  const model = config.model.config
  messages = config.contextTranslation?.(messages, model) ?? messages
  const request: StreamRequest = {
    model,
    systemPrompt: context.systemPrompt,
    messages,
    tools: context.tools.length === 0 ? [] : await definitionsOf(context.tools),
    thinkingLevel: config.thinkingLevel ?? 'off',
    cache: config.cache ?? { type: 'auto' },
  }
  if (config.maxTokens !== undefined) request.maxTokens = config.maxTokens
  if (config.temperature !== undefined) request.temperature = config.temperature
  if (config.responseFormat !== undefined) {
    const { responseFormatOf } = await raceAbort(import('../validation/response-format.ts'), signal)
    request.responseFormat = responseFormatOf(config.responseFormat)
  }
  return { request, entries }
}

async function definitionsOf(tools: readonly AgentTool[]): Promise<readonly ToolDefinition[]> {
  const known = definitions.get(tools)
  if (known !== undefined) return known
  const { toolDefinitions } = await import('./tool-definitions.ts')
  const made = toolDefinitions(tools)
  definitions.set(tools, made)
  return made
}
