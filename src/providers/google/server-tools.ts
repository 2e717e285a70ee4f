import { ConfigError } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import { toJson } from '../kit/encode/json-pieces.ts'
import type { ServerTools } from '../kit/optional/server-tools/server-tools.ts'
import type { GeminiProfile } from './profile.ts'

/**
 * Provider-executed tools of the Gemini API and Vertex AI, for the `serverTools` option. Each is a raw declaration as plain JSON.
 *
 * Source: docs/providers/google.md
 */
export const googleTools = {
  /** Searches the web. */
  search: (): JsonObject => ({ googleSearch: {} }),
  /** Reads web pages whose URLs occur in the conversation. */
  urlContext: (): JsonObject => ({ urlContext: {} }),
  /** Runs Python. */
  codeExecution: (): JsonObject => ({ codeExecution: {} }),
  /** Searches files in file search stores. */
  fileSearch: ({ stores, topK }: { stores: readonly string[]; topK?: number }): JsonObject => ({
    fileSearch: { fileSearchStoreNames: [...stores], ...(topK !== undefined && { topK }) },
  }),
  /** Looks up places. */
  maps: (): JsonObject => ({ googleMaps: {} }),
} as const

/** Throws `ConfigError` `invalidOption` for an invalid declaration. */
export function checkServerTools(tools: ServerTools): void {
  for (const tool of tools) {
    if (Object.keys(tool).length === 1 && tool.functionDeclarations === undefined) continue
    const advice = 'Pass entries with one field, the tool name, such as { googleSearch: {} }, or use googleTools.'
    throw new ConfigError('invalidOption', `serverTools: ${JSON.stringify(Object.keys(tool))} is not a tool of the provider. ${advice}`)
  }
}

/**
 * Returns the tools of a request and the `toolConfig` fields that combine them: `,"tools":[…]`. Models up to 2.5 accept either functions
 * or provider tools. Newer models accept both and report the provider's calls.
 */
export function declared(
  functions: string,
  tools: ServerTools,
  { family, isVertex }: Pick<GeminiProfile, 'family'> & { isVertex: boolean },
  warnings: string[],
): { tools: string; config: JsonObject } {
  const own = functions === '' ? [] : [`{"functionDeclarations":[${functions}]}`]
  const isMixed = own.length > 0 && tools.length > 0
  if (isMixed && !family.needsSignatures) {
    const names = tools.flatMap((tool) => Object.keys(tool)).join(', ')
    warnings.push(`serverTools were omitted (${names}): this model accepts provider tools or functions, not both.`)
  }
  const taken = isMixed && !family.needsSignatures ? [] : tools.map((tool) => toJson(tool))
  const all = [...taken, ...own]
  const flag = isVertex ? {} : { includeServerSideToolInvocations: true }
  const config = isMixed && taken.length > 0 ? { ...flag, functionCallingConfig: { mode: 'VALIDATED' } } : {}
  return { tools: all.length === 0 ? '' : `,"tools":[${all.join(',')}]`, config }
}
