import { copyJson, isSameJson } from '../../base/json/json-value.ts'
import { callbackFailed } from '../../contract/errors.ts'
import { toMessage } from '../../contract/message/history.ts'
import { type AgentMessage, isLlmMessage, type Message, withId } from '../../contract/message/message.ts'
import type { ToolDefinition } from '../../contract/model/request.ts'
import { plainDefaults } from '../../contract/run/settings.ts'
import { kindOf } from '../../contract/shape/json-fault.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import type { AgentTool } from '../../types/tool/tool.ts'
import { responseFormatOf } from '../../validation/response-format.ts'
import { toolJsonSchema } from '../../validation/tool-parameters.ts'
import type { LoopState } from '../loop-state.ts'

/** A derived request, and its history entries before `convertToLlm`. */
export interface DerivedRequest {
  request: StreamRequest
  entries: readonly AgentMessage[]
}

/**
 * Derives the request from the history: prunes, reverts and compaction, `transformContext`, `convertToLlm`, then `contextTranslation`. The
 * history does not change, and unchanged messages keep their identity. Throws or rejects with the error of a callback, or with the reason
 * of a stopped run.
 *
 * Source: docs/internals/architecture.md
 */
export function deriveRequest(loop: LoopState): DerivedRequest | Promise<DerivedRequest> {
  const { transformContext, convertToLlm } = loop.config
  const given = loop.turn.messages
  if (given !== undefined) return { entries: given.map(withId), request: requestOf(loop, given) }
  const entries = loop.contextWindow.view?.sent() ?? loop.context.messages
  if (transformContext === undefined && convertToLlm === undefined) {
    return { entries, request: requestOf(loop, entries.filter(isLlmMessage)) }
  }
  return throughCallbacks(loop, entries)
}

function requestOf(loop: LoopState, messages: readonly Message[]): StreamRequest {
  const { config, turn } = loop
  const model = turn.model.config
  const { cache = plainDefaults.cache } = config
  const request: StreamRequest = {
    model,
    systemPrompt: turn.systemPrompt,
    messages: translated(loop, messages),
    tools: definitionsOf(turn.tools),
    thinking: turn.thinking,
    cache: typeof cache === 'string' ? { type: cache } : cache,
  }
  Object.assign(request, turn.settings)
  if (turn.searchable.length > 0) {
    const foundBy = turn.tools.flatMap(({ name, searches }) => (searches === undefined ? [] : name))
    if (foundBy.length > 0) request.searchable = { tools: definitionsOf(turn.searchable), foundBy }
  }
  const refusals = loop.context.messages.filter(hasRefusedMedia)
  if (refusals.length > 0) request.refusals = refusals
  if (loop.media !== undefined) request.resolveMedia = loop.media
  if (config.responseFormat !== undefined) request.responseFormat = responseFormatOf(config.responseFormat)
  return request
}

function hasRefusedMedia(message: AgentMessage): message is Extract<AgentMessage, { role: 'assistant' }> {
  return message.role === 'assistant' && message.refusedMedia !== undefined
}

function translated({ config, turn }: LoopState, messages: readonly Message[]): readonly Message[] {
  const { contextTranslation } = config
  if (contextTranslation === undefined) return messages
  try {
    return listOf(contextTranslation(messages, turn.model.config), 'contextTranslation')
  } catch (error) {
    throw callbackFailed('contextTranslation', error)
  }
}

/** Caches tool definitions for the model. The same tools always produce the same array. */
const definitions = new WeakMap<readonly AgentTool[], { of: readonly AgentTool[]; made: readonly ToolDefinition[] }>()

/** Throws `ConfigError` `invalidTool` for a tool without a JSON Schema. */
function definitionsOf(tools: readonly AgentTool[]): readonly ToolDefinition[] {
  const known = definitions.get(tools)
  // Compare the entries, because a tool list can change between turns, for example that of an MCP server.
  if (known !== undefined && known.of.length === tools.length && known.of.every((tool, at) => tool === tools[at])) return known.made
  const made = tools.map((tool) => ({ name: tool.name, description: tool.description, parameters: toolJsonSchema(tool) }))
  definitions.set(tools, { of: [...tools], made })
  return made
}

/**
 * Runs `transformContext` and `convertToLlm` on copies, so that they cannot change the history. Unchanged messages keep their identity,
 * because encoded forms are cached by it.
 */
async function throughCallbacks(loop: LoopState, history: readonly AgentMessage[]): Promise<DerivedRequest> {
  const { stop } = loop
  const { transformContext, convertToLlm } = loop.config
  const entries =
    transformContext === undefined
      ? history
      : (await onCopies('transformContext', loop, history, (copies) => transformContext(copies, stop.signal))).map(withId)
  const messages =
    convertToLlm === undefined
      ? entries.filter(isLlmMessage)
      : (await onCopies('convertToLlm', loop, entries, (copies) => convertToLlm(copies))).filter(isSpoken)
  return { entries, request: requestOf(loop, messages) }
}

function isSpoken(message: Message | AgentMessage): message is Message {
  return message.role !== 'extension'
}

/** Runs a callback on copies of `entries`. Returns the original objects for unchanged entries. Errors name the callback. */
async function onCopies(
  name: string,
  { stop }: LoopState,
  entries: readonly AgentMessage[],
  callback: (copies: AgentMessage[]) => readonly (Message | AgentMessage)[] | Promise<readonly (Message | AgentMessage)[]>,
): Promise<(Message | AgentMessage)[]> {
  const originals = new Map<unknown, AgentMessage>()
  const copies = entries.map((entry) => {
    const copy = copyJson(entry)
    originals.set(copy, entry)
    return copy
  })
  try {
    // An async function turns a synchronous throw into a rejection.
    const returned = await stop.race((async () => callback(copies))())
    return listOf(returned, name).map((message, at) => {
      const original = originals.get(message)
      return isSameJson(message, original) ? original : toMessage(message, `${name}()[${at}]`)
    })
  } catch (error) {
    if (stop.aborted) throw error
    throw callbackFailed(name, error)
  }
}

function listOf<T>(returned: readonly T[], name: string): readonly T[] {
  if (Array.isArray(returned)) return returned
  throw new TypeError(`${name}() returned ${kindOf(returned)} instead of a list of messages`)
}
