import { Agent, type AgentTool, type Model } from 'phi-core'
import { memoryWorkspace, readFileTool, toolSearch } from 'phi-core/tools'

/** A model with a thousand tools: its service searches among them, or it is offered a search, and what it has found. Long results go to files. */
export function withManyTools(model: Model, operations: AgentTool[]): Agent {
  const workspace = memoryWorkspace()
  return new Agent({
    model,
    tools: [readFileTool({ workspace }), ...toolSearch(operations, { native: true })],
    offload: { over: 20_000, workspace },
  })
}
