import type { Content, ThinkingContent } from '../contract/message/content.ts'
import type { AssistantMessage, Message } from '../contract/message/message.ts'
import type { KnownApi, ModelConfig } from '../contract/model/model-config.ts'

/**
 * Converts content from other models in a history for `target`. Runs before every request, after `convertToLlm` and before the codec
 * normalizes the history.
 *
 * **Contract**
 * - Changes nothing in place: translated messages are copies, and unchanged messages keep their identity.
 * - Returns the same copy for the same message and target, so that encoded forms are reused.
 *
 * Source: docs/concepts/context.md
 */
export type ContextTranslation = (messages: readonly Message[], target: ModelConfig) => readonly Message[]

/** Handling of foreign thinking. */
const rules: Record<KnownApi, 'keep' | 'text' | 'drop'> = {
  anthropicMessages: 'keep',
  openAiCompletions: 'text',
  openAiResponses: 'text',
  azureOpenAiResponses: 'text',
  googleGenerativeAi: 'drop',
  googleVertex: 'drop',
  bedrockConverseStream: 'drop',
}

const translated = new WeakMap<ModelConfig, WeakMap<AssistantMessage, AssistantMessage>>()

/**
 * Translates as specified: thinking becomes text with the prefix `[Reasoning] ` for OpenAI and Azure, and is dropped for Google and
 * Bedrock. Retains thinking for Anthropic, which receives only its own model's thinking.
 *
 * **Contract**
 * - Only foreign thinking is changed. A model gets its own thinking back with signatures. The specification drops it for Google and
 *   Bedrock, but their models reject requests without it.
 * - Retains text, images, tool calls, user messages and tool results. Drops withheld thinking, which has no text.
 */
export const defaultContextTranslation: ContextTranslation = (messages, target) => {
  // Codecs of other protocols define what they accept.
  const rule = isKnownApi(target.api) ? rules[target.api] : 'keep'
  if (rule === 'keep') return messages
  let known = translated.get(target)
  if (known === undefined) {
    known = new WeakMap()
    translated.set(target, known)
  }
  let isSame = true
  const list: Message[] = []
  for (const message of messages) {
    const next = message.role === 'assistant' ? translate(message, target, rule, known) : message
    if (next !== message) isSame = false
    list.push(next)
  }
  return isSame ? messages : list
}

function isKnownApi(api: string): api is KnownApi {
  return Object.hasOwn(rules, api)
}

function translate(
  message: AssistantMessage,
  target: ModelConfig,
  rule: 'text' | 'drop',
  known: WeakMap<AssistantMessage, AssistantMessage>,
): AssistantMessage {
  if (!message.content.some((block) => isForeign(block, message, target))) return message
  let copy = known.get(message)
  if (copy === undefined) {
    const content: Content[] = []
    for (const block of message.content) {
      if (!isForeign(block, message, target)) content.push(block)
      else if (rule === 'text' && block.thinking.trim() !== '') content.push({ type: 'text', text: `[Reasoning] ${block.thinking}` })
    }
    copy = { ...message, content }
    known.set(message, copy)
  }
  return copy
}

/** Returns whether another model produced the thinking, or this model under another protocol. */
function isForeign(block: Content, message: AssistantMessage, target: ModelConfig): block is ThinkingContent {
  if (block.type !== 'thinking') return false
  if (message.provider !== target.provider || message.model !== target.id) return true
  const state = block.providerState
  return state !== undefined && (state.api !== target.api || state.model !== target.id)
}
