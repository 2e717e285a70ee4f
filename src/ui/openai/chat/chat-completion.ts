import type { Usage } from '../../../contract/model/usage.ts'
import type { OpenAiError } from '../shared/failure.ts'
import type { UrlCitation } from '../shared/url-citation.ts'

/** Finish reasons of Chat Completions. */
export type ChatFinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/** A call of a tool that the caller runs. */
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

/** A picture of the model. */
export interface ChatPicture {
  type: 'image_url'
  image_url: { url: string }
}

/** A delta. `reasoning_content` and `images` are not OpenAI's names: other providers use them. */
export interface ChatDelta {
  role?: 'assistant'
  content?: string
  reasoning_content?: string
  refusal?: string
  tool_calls?: (ChatToolCall & { index: number })[]
  annotations?: ChatAnnotation[]
  images?: ChatPicture[]
}

/** Tokens that were used, as Chat Completions counts them. */
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

/** A response in one piece. */
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

/** Tokens as Chat Completions counts them: the prompt with what a cache had of it. */
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

/** Joins the chunks of an encoder to a response. They end with its `usage`. */
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
  if (completion === undefined) throw new TypeError('The chunks of an answer end with its usage.')
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
