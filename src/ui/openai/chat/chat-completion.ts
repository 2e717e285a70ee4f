import type { Usage } from '../../../contract/model/usage.ts'
import type { OpenAiError } from '../shared/failure.ts'
import type { UrlCitation } from '../shared/url-citation.ts'

/** Finish reasons of Chat Completions. */
export type ChatFinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/** A call to one of the caller's tools. */
export interface ChatToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

/** A source of the response. */
export interface ChatAnnotation {
  type: 'url_citation'
  url_citation: Omit<UrlCitation, 'type'>
}

/** An image that the model generated. */
export interface ChatPicture {
  type: 'image_url'
  image_url: { url: string }
}

/** A delta. `reasoning_content` and `images` are not part of OpenAI's API. Other providers use these names. */
export interface ChatDelta {
  role?: 'assistant'
  content?: string
  reasoning_content?: string
  refusal?: string
  tool_calls?: (ChatToolCall & { index: number })[]
  annotations?: ChatAnnotation[]
  images?: ChatPicture[]
}

/** Token usage in the format of Chat Completions. */
export interface ChatUsage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  prompt_tokens_details: { cached_tokens: number }
  completion_tokens_details: { reasoning_tokens: number }
}

/** A chunk of a streamed response. */
export interface ChatChunk {
  id: string
  object: 'chat.completion.chunk'
  created: number
  model: string
  choices: { index: 0; delta: ChatDelta; logprobs: null; finish_reason: ChatFinishReason | null }[]
  usage?: ChatUsage | null
}

/** An error chunk that ends a stream. */
export interface ErrorChunk {
  error: OpenAiError
}

/** A response that is not streamed. */
export interface ChatCompletion {
  id: string
  object: 'chat.completion'
  created: number
  model: string
  choices: {
    index: 0
    message: {
      role: 'assistant'
      content: string | null
      refusal: string | null
      reasoning_content?: string
      tool_calls?: ChatToolCall[]
      annotations: ChatAnnotation[]
      images?: ChatPicture[]
    }
    logprobs: null
    finish_reason: ChatFinishReason
  }[]
  usage: ChatUsage
}

/** Converts usage to the format of Chat Completions, in which prompt tokens include cached tokens. */
export function chatUsage({ input, output, reasoning, cacheRead, cacheWrite }: Usage): ChatUsage {
  const prompt = input + cacheRead + cacheWrite
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
}

/** Joins an encoder's chunks into one response. The last chunk contains the `usage`. */
export function chatCompletionOf(chunks: readonly (ChatChunk | ErrorChunk)[]): ChatCompletion | ErrorChunk {
  let [content, reasoning, refusal] = ['', '', '']
  const calls: ChatToolCall[] = []
  const annotations: ChatAnnotation[] = []
  const images: ChatPicture[] = []
  let completion: ChatCompletion | undefined
  let finish: ChatFinishReason = 'stop'
  for (const chunk of chunks) {
    if ('error' in chunk) return chunk
    for (const { delta, finish_reason: reason } of chunk.choices) {
      content += delta.content ?? ''
      reasoning += delta.reasoning_content ?? ''
      refusal += delta.refusal ?? ''
      calls.push(...(delta.tool_calls ?? []).map(({ index: _, ...call }) => call))
      annotations.push(...(delta.annotations ?? []))
      images.push(...(delta.images ?? []))
      finish = reason ?? finish
    }
    const { id, created, model, usage } = chunk
    if (usage) completion = { id, object: 'chat.completion', created, model, choices: [], usage }
  }
  if (completion === undefined) throw new TypeError('The chunks of a response must end with its usage.')
  const message = {
    role: 'assistant' as const,
    content: content === '' && (calls.length > 0 || refusal !== '') ? null : content,
    refusal: refusal === '' ? null : refusal,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
    annotations,
    ...(images.length > 0 && { images }),
  }
  completion.choices = [{ index: 0, message, logprobs: null, finish_reason: finish }]
  return completion
}
