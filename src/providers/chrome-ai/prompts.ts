import { bytesOfBase64 } from '../../base/base64.ts'
import { type Content, isMedia } from '../../contract/message/content.ts'
import { type Message, textOf, toolCallsOf } from '../../contract/message/message.ts'
import { constrainedAnswer } from './constrained.ts'
import type { BrowserAi, PromptContent, PromptMessage } from './language-model.ts'

/** Encoding of calls and results. */
export type ToolUse = { kind: 'native'; ai: Required<BrowserAi> } | { kind: 'constrained' } | { kind: 'none' }

/** Converts a history to browser prompts. Results of one response become one message. */
export function promptsOf(messages: readonly Message[], tools: ToolUse): PromptMessage[] {
  const prompts: PromptMessage[] = []
  let results: PromptContent[] | undefined
  for (const message of messages) {
    if (message.role === 'toolResult') {
      if (results === undefined) {
        results = []
        prompts.push({ role: 'user', content: results })
      }
      results.push(...resultOf(message, tools))
      continue
    }
    results = undefined
    if (message.role === 'user') prompts.push({ role: 'user', content: simple(message.content.flatMap(contentOf)) })
    else prompts.push({ role: 'assistant', content: answerOf(message, tools) })
  }
  return prompts
}

function simple(content: PromptContent[]): string | PromptContent[] {
  const [only] = content
  return content.length === 1 && only?.type === 'text' && typeof only.value === 'string' ? only.value : content
}

function contentOf(block: Content): PromptContent[] {
  if (block.type === 'text') return [{ type: 'text', value: block.text }]
  if (!isMedia(block)) return []
  if (block.data === undefined) return []
  return [{ type: block.type === 'image' ? 'image' : 'audio', value: bytesOfBase64(block.data) }]
}

function answerOf(message: Extract<Message, { role: 'assistant' }>, tools: ToolUse): string | PromptContent[] {
  const say = textOf(message.content)
  const calls = toolCallsOf(message.content)
  if (calls.length === 0) return tools.kind === 'constrained' ? constrainedAnswer(say, []) : say
  if (tools.kind !== 'native') return constrainedAnswer(say, calls)
  const { LanguageModelToolCall } = tools.ai
  return [
    ...(say === '' ? [] : [{ type: 'text' as const, value: say }]),
    ...calls.map(({ id, name, arguments: args }): PromptContent => {
      return { type: 'tool-call', value: new LanguageModelToolCall({ callId: id, name, arguments: args }) }
    }),
  ]
}

function resultOf(message: Extract<Message, { role: 'toolResult' }>, tools: ToolUse): PromptContent[] {
  const { toolCallId: callId, toolName: name, content, isError } = message
  const resultText = textOf(content)
  const media = content.flatMap(contentOf).filter(({ type }) => type !== 'text')
  if (tools.kind !== 'native') return [{ type: 'text', value: `[${isError ? 'Error' : 'Result'} of ${name}]\n${resultText}` }, ...media]
  const { LanguageModelToolSuccess, LanguageModelToolError } = tools.ai
  const value = isError
    ? new LanguageModelToolError({ callId, name, errorMessage: resultText })
    : new LanguageModelToolSuccess({ callId, name, result: [{ type: 'text', value: resultText }] })
  return [{ type: 'tool-response', value }, ...media]
}

/** Returns the content kinds that a session needs for these prompts. */
export function kindsIn(prompts: readonly PromptMessage[]): Set<PromptContent['type']> {
  return new Set(prompts.flatMap(({ content }) => (typeof content === 'string' ? [] : content.map(({ type }) => type))))
}
