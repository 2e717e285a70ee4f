import type { ApiProtocol } from '../../contract/model/model-config.ts'

/** Spellings of configuration files and their aliases, those of stored sessions, and our own. */
const names: readonly (readonly [ApiProtocol, ...string[]])[] = [
  ['anthropicMessages', 'anthropic_messages', 'anthropic'],
  ['openAiCompletions', 'openai_completions', 'open_ai_completions', 'openai'],
  ['openAiResponses', 'openai_responses', 'open_ai_responses'],
  ['azureOpenAiResponses', 'azure_openai_responses', 'azure_open_ai_responses', 'azure'],
  ['googleGenerativeAi', 'google_generative_ai', 'google', 'gemini'],
  ['googleVertex', 'google_vertex', 'vertex'],
  ['bedrockConverseStream', 'bedrock_converse_stream', 'bedrock'],
  ['scripted'],
]

/**
 * The protocol that a configuration calls `name` (`anthropic_messages`, `anthropic`, `anthropicMessages` …); `undefined` for other words.
 */
export function protocolOf(name: string): ApiProtocol | undefined {
  return names.find((spellings) => spellings.some((spelling) => spelling === name))?.[0]
}
