import type { ToolDefinition } from '../../../contract/model/request.ts'
import { perObject } from './per-object.ts'

/**
 * Tool definitions as comma-separated JSON, each made by `encode`: once per definition, and joined once as long as they stay the same.
 */
export function toolsEncoder(encode: (tool: ToolDefinition) => string): (tools: readonly ToolDefinition[]) => string {
  const one = perObject(encode)
  let last: { tools: readonly ToolDefinition[]; json: string } = { tools: [], json: '' }
  return (tools) => {
    const isSame = tools.length === last.tools.length && tools.every((tool, index) => tool === last.tools[index])
    if (!isSame) last = { tools: [...tools], json: tools.map(one).join(',') }
    return last.json
  }
}
