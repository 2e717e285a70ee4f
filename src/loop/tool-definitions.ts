import type { ToolDefinition } from '../types/provider.ts'
import type { AgentTool } from '../types/tool.ts'
import { toolJsonSchema } from '../validation/tool-parameters.ts'

/** The tools as the model sees them. Throws `ConfigError` `invalidTool` for one whose parameters have no JSON Schema. */
export function toolDefinitions(tools: readonly AgentTool[]): ToolDefinition[] {
  return tools.map((tool) => ({ name: tool.name, description: tool.description, parameters: toolJsonSchema(tool) }))
}
