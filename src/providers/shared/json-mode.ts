import type { StreamRequest } from '../../types/provider.ts'

/**
 * `request` with JSON named in its system prompt: OpenAI refuses its JSON mode unless the word stands somewhere in the conversation, and
 * models behind other services tend to write blanks for ever without it.
 */
export function sayingJson(request: StreamRequest): StreamRequest {
  const { systemPrompt } = request
  if (/json/i.test(systemPrompt)) return request
  return { ...request, systemPrompt: `${systemPrompt}\n\nAnswer with a JSON object.`.trimStart() }
}
