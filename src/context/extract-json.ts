import { shortened } from '../base/text/characters.ts'
import { ProviderError } from '../contract/errors.ts'
import type { JsonValue } from '../contract/json.ts'
import { type AgentMessage, type AssistantMessage, type Message, textOf } from '../contract/message/message.ts'
import { answerToolName } from '../contract/model/request.ts'

/**
 * Parses the JSON of a response.
 *
 * **Contract**
 * - Uses the arguments of a `respond_json` call, if any, or otherwise all text joined. If that text is not JSON, uses the last text block,
 *   because
 *   some models write an introduction. Ignores thinking.
 * - Throws `ProviderError` `schemaMismatch` with a description of the content: text that is not JSON, a response without text, or
 *   another message.
 *
 * Source: docs/guides/structured-output.md
 */
export function extractJson(message: Message | AgentMessage): JsonValue {
  if (message.role !== 'assistant') throw mismatch(`Cannot extract JSON from a ${message.role} message: it is not a model response.`)
  const call = message.content.find((block) => block.type === 'toolCall' && block.name === answerToolName)
  if (call?.type === 'toolCall' && call.invalidArguments === undefined) return call.arguments
  const text = call?.type === 'toolCall' ? (call.invalidArguments ?? '') : textOf(message.content)
  if (text.trim() === '') throw mismatch(`The response is empty${circumstances(message)} and contains no JSON.`)
  try {
    return parse(text)
  } catch (cause) {
    const last = message.content.findLast((block) => block.type === 'text')
    try {
      if (call === undefined && last !== undefined) return parse(last.text)
    } catch {
      // Show the whole text in the error.
    }
    throw mismatch(`The response is not valid JSON${circumstances(message)}: ${excerpt(text)}.`, cause)
  }
}

function parse(text: string): JsonValue {
  // JSON.parse returns JSON values only.
  return JSON.parse(text) as JsonValue
}

/** Explains an invalid response. */
function circumstances({ stopReason, errorMessage, refusal }: AssistantMessage): string {
  switch (stopReason) {
    case 'stop':
      return ''
    case 'length':
      return ' (it was cut off: raise maxTokens)'
    case 'guardRail':
      return ` (the model or its service refused${refusal === undefined ? '' : `: ${excerpt(refusal)}`})`
    case 'toolUse':
      return ' (it calls tools; take the last answer of the run)'
    default:
      return ` (it ended with ${stopReason}${errorMessage === undefined ? '' : `: ${errorMessage}`})`
  }
}

function excerpt(text: string): string {
  const shown = text.replace(/\s+/g, ' ').trim()
  return JSON.stringify(shortened(shown, 200))
}

function mismatch(message: string, cause?: unknown): ProviderError {
  return new ProviderError('schemaMismatch', message, cause === undefined ? {} : { cause })
}
