import { ConfigError } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { ServerTools } from '../kit/server-tools.ts'

/**
 * Tools that Amazon Bedrock runs for models of the Nova 2 family, for the option `serverTools`. Each is the declaration of the service as plain JSON.
 *
 * Source: docs/providers/bedrock.md#service-tools
 */
export const bedrockTools = {
  /** Searches the web. */
  grounding: (): JsonObject => ({ systemTool: { name: 'nova_grounding' } }),
  /** Runs code. */
  codeInterpreter: (): JsonObject => ({ systemTool: { name: 'nova_code_interpreter' } }),
} as const

/** Throws `ConfigError` `invalidOption` for what is no declaration of the service. */
export function checkServerTools(tools: ServerTools): void {
  for (const tool of tools) {
    if (typeof Object(tool.systemTool).name === 'string') continue
    const advice = 'Each entry is { systemTool: { name } }. Use bedrockTools.'
    throw new ConfigError('invalidOption', `serverTools: ${JSON.stringify(Object.keys(tool))} is no tool of the service. ${advice}`)
  }
}
