const overflowPhrases = [
  'prompt is too long',
  'input is too long',
  'exceeds the context window',
  'exceeds the maximum',
  'maximum prompt length',
  'reduce the length of the messages',
  'maximum context length',
  'exceeds the limit of',
  'exceeds the available context size',
  'greater than the context length',
  'context window exceed',
  'context_window_exceeded',
  'exceeded model token limit',
  'context length exceeded',
  'context_length_exceeded',
  'too many tokens',
  'token limit exceeded',
  'exceed context limit',
  'request_too_large',
  'prompt exceeds max length',
  'range of input length',
  "is longer than the model's context length",
  'too large for model with',
  'maximum allowed input length',
  'exceed_context_size_error',
  'too_many_prompt_tokens',
  // What this package itself says where a service gave a status and no text.
  'does not fit the context window',
]

/** Whether `text` is a service's way of saying that the prompt does not fit. Source: docs/concepts/errors.md */
export function isContextOverflowText(text: string): boolean {
  const lower = text.toLowerCase()
  return overflowPhrases.some((phrase) => lower.includes(phrase))
}
